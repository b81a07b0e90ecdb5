import { isIP } from 'node:net'
import * as z from 'zod/mini'
import { isThisMachine } from '../core/this-machine.ts'
import { parseDuration, parseSize } from '../core/units.ts'
import type { BackupSchedule } from './settings.ts'

/**
 * The forms a setting may have. Each takes what YAML gives or the text of an environment variable or flag, and refuses
 * with what it expected and an example.
 */
function form<Value>(expected: string, read: (value: unknown) => Value | null) {
  const transform = z.transform((value: unknown, context): Value => {
    const result = read(value)
    if (result !== null) return result
    context.issues.push({ code: 'custom', input: value, message: `expected ${expected}` })
    return z.NEVER
  })
  return z.pipe(z.unknown(), transform)
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
}

export const address = form('host:port, like 127.0.0.1:8787 or [::1]:8787', (value) => {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:[\]\s]+):(\d{1,5})$/.exec(text(value) ?? '')
  const host = match?.[1]?.replace(/^\[|\]$/g, '')
  const port = Number(match?.[2])
  if (host === undefined || port > 65_535) return null
  return { host, port }
})

export const duration = form('a duration, like 250ms, 5s, 30m or 90d', (value) =>
  positive(parseDuration(text(value) ?? '')),
)
export const size = form('a size, like 64KB, 100MB or 2GiB', (value) => positive(parseSize(text(value) ?? '')))

/** `auto`, or a size. */
export const sizeOrAuto = form('auto or a size, like 500MB or 2GiB', (value): number | 'auto' | null =>
  value === 'auto' ? value : positive(parseSize(text(value) ?? '')),
)

/** One that may be none at all. */
export const pause = form('a duration, like 0s, 250ms or 5s', (value) => parseDuration(text(value) ?? ''))
/** Every so often, or at a time of each day. */
export const schedule = form('a duration of at least 1m, like 6h, or a time of day (UTC), like 03:30', readSchedule)

function readSchedule(value: unknown): BackupSchedule | null {
  // YAML 1.1 readers take 03:30 for a number of minutes; this one does not.
  const time = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text(value) ?? '')
  if (time !== null) return { minuteOfDay: Number(time[1]) * 60 + Number(time[2]) }
  const everyMs = parseDuration(text(value) ?? '')
  return everyMs !== null && everyMs >= 60_000 ? { everyMs } : null
}

export const count = form('a number from 1 to 10000', (value) => {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isInteger(number) && number >= 1 && number <= 10_000 ? number : null
})

function positive(amount: number | null): number | null {
  return amount !== null && amount > 0 ? amount : null
}

/** `auto`, or a number of threads. */
export const workers = form('auto or a number from 1 to 256', (value): number | 'auto' | null => {
  if (value === 'auto') return value
  const count = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  return typeof count === 'number' && Number.isInteger(count) && count >= 1 && count <= 256 ? count : null
})

/** Without a trailing slash. */
export const url = form('an http or https URL without a query, like https://gateway.example.com', (value) => {
  const parsed = URL.parse(text(value) ?? '')
  if (!parsed || !isPlainAddress(parsed)) return null
  return parsed.href.replace(/\/+$/, '')
})

const issuerForm =
  'an https URL without a query (http on this machine only), like https://login.example.com/realms/main'
/** As it is written: whether there is a slash at its end is part of an issuer's name. */
export const issuer = form(issuerForm, (value) => {
  const parsed = URL.parse(text(value) ?? '')
  if (!parsed || !isPlainAddress(parsed)) return null
  return parsed.protocol === 'https:' || isThisMachine(parsed.hostname) ? text(value) : null
})

/** Shown to people and sent to browsers, so it says nothing of who asks. */
function isPlainAddress({ protocol, search, hash, username, password }: URL): boolean {
  return /^https?:$/.test(protocol) && search + hash + username + password === ''
}

export const origins = list('origins, like https://app.example.com, or *', (item) => {
  return item === '*' || (URL.canParse(item) && new URL(item).origin === item) ? item : null
})

export const networks = list('addresses or CIDR blocks, like 10.0.0.0/8 or ::1', (item) => {
  const [host = '', bits, ...rest] = item.split('/')
  const family = isIP(host)
  if (family === 0 || rest.length > 0) return null
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)) ? item : null
})

/** A list in YAML; comma-separated in an environment variable. */
function list(expected: string, read: (item: string) => string | null) {
  return form(`a list of ${expected}`, (value) => {
    const items = typeof value === 'string' ? value.split(',').map((item) => item.trim()) : value
    if (!Array.isArray(items)) return null
    const found = items.map((item) => (typeof item === 'string' ? read(item) : null))
    return found.every((item) => item !== null) ? found : null
  })
}

export function choice<const Word extends string>(words: readonly Word[]) {
  return form(`one of ${words.join(', ')}`, (value) => words.find((word) => word === value) ?? null)
}

export const words = list('words', (item) => text(item))

const roleForm = /^(viewer|admin|owner)(?:@(\S+))?$/
type GivenRole = { role: 'viewer' | 'admin' | 'owner'; project: string | null }

/**
 * A mapping of values to roles, each `ROLE` or `ROLE@PROJECT`, several with blanks between; in an environment variable
 * `value=ROLE,other=ROLE@PROJECT`.
 */
export const roles = form('roles by value, like admins: owner or team-a: viewer@team-a', (value) =>
  // Names in directories have equals signs, roles none.
  readMapping(value, 'lastIndexOf', (name, given) => {
    const read = readRoles(given)
    return read && [name, read]
  }),
)

/** A mapping, or its text `name=value,other=value`, whose values begin behind an equals sign; null: it is neither. */
function readMapping<Value>(
  value: unknown,
  sign: 'indexOf' | 'lastIndexOf',
  read: (name: string, given: unknown) => [string, Value] | null,
): Record<string, Value> | null {
  const isText = typeof value === 'string'
  if (!isText && (typeof (value ?? {}) !== 'object' || Array.isArray(value))) return null
  const pairs: [string, unknown][] = isText
    ? value.split(',').map((pair) => {
        const at = pair[sign]('=')
        return [pair.slice(0, Math.max(0, at)).trim(), pair.slice(at + 1)]
      })
    : Object.entries(value ?? {})
  const found = pairs.map(([name, given]) => name && read(name, given))
  const good = found.filter((pair) => pair !== '' && pair !== null)
  return good.length === found.length ? Object.fromEntries(good) : null
}

function readRoles(value: unknown): GivenRole[] | null {
  const given = (text(value) ?? '').split(/\s+/).map((each) => roleForm.exec(each))
  const found = given.flatMap((match) =>
    match === null ? [] : [{ role: match[1] as GivenRole['role'], project: match[2] ?? null }],
  )
  return found.length === given.length ? found : null
}

const headerName = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
/** A value may be a reference: what it stands for is looked at when it is read. */
const headerValue = /^[\x20-\x7e]+$/

/** A mapping of names to values; in an environment variable `name=value,other=value`. */
export const headers = form('headers by name, like x-team: platform', (value) =>
  // At the first equals sign: credentials end in some.
  readMapping(value, 'indexOf', (given, content): [string, string] | null => {
    const [name, header] = [given.toLowerCase(), text(content)]
    return header !== null && headerName.test(name) && headerValue.test(header) ? [name, header] : null
  }),
)

/** Where a server is and who calls, without a password: that is another setting, so that this one can be shown. */
function readServer(address: string, protocols: RegExp, usualPort: number) {
  const parsed = URL.parse(address)
  if (!parsed || !protocols.test(parsed.protocol) || parsed.password || parsed.hash) return null
  const { username, hostname, pathname, port, searchParams: query } = parsed
  try {
    const parts = [username, hostname.replace(/^\[|\]$/g, ''), pathname.slice(1)].map((part) =>
      decodeURIComponent(part),
    )
    const [user = '', host = '', path = ''] = parts
    return { user, host, path, port: Number(port || usualPort), query }
  } catch {
    // A percent sign that stands for no character.
    return null
  }
}

/** `USER@/DATABASE`: a socket's address has no host, which URLs need after a user. */
const beforeNoHost = /^(\w+:\/\/[^/@]+@)(?=\/)/

export const postgresUrl = form('a URL without a password, like postgres://spgw@db.example.com:5432/spgw', (value) => {
  const given = text(value) ?? ''
  const server = readServer(given.replace(beforeNoHost, '$1socket'), /^postgres(ql)?:$/, 5432)
  if (!server?.user || !server.path || [...server.query.keys()].some((name) => name !== 'host')) return null
  const { user, path: database, port, query } = server
  const socket = query.get('host')
  if ((socket !== null) !== beforeNoHost.test(given) || socket?.startsWith('/') === false) return null
  return { host: socket ?? server.host, port, user, database }
})

/** The same of Valkey or Redis, whose default user has no name. */
export const valkeyUrl = form(
  'a URL without a password, like valkey://spgw@cache.example.com:6379 (always TLS to another machine)',
  (value) => {
    const server = readServer(text(value) ?? '', /^(valkey|redis):$/, 6379)
    if (!server?.host || server.query.size > 0 || !/^\d{0,3}$/.test(server.path)) return null
    const { user, host, port, path } = server
    return { host, port, user: user || null, database: Number(path) }
  },
)

export const path = form('a path', text)
export const word = form('a text', text)
/** A group's name or number. */
export const group = form('the name or number of a group', (value) =>
  text(typeof value === 'number' ? `${value}` : value),
)
