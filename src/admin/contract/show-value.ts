import { escapeControls } from '../../core/text/escape-controls.ts'
import { formatBytes } from '../../core/text/format-bytes.ts'
import { describeSize } from '../../core/units.ts'
import type { Column } from './operation.ts'
import { describeOpen, isShownHours, nameHours } from './show-hours.ts'
import {
  formatAmount,
  formatLimitUsage,
  formatNearest,
  formatUsed,
  isLimitUsage,
  nameLimit,
  nameScope,
} from './show-limit.ts'
import { formatMilliseconds, formatMoney, formatRate, formatShare, groupDigits } from './show-number.ts'
import { formatOutbox, isOutbox } from './show-outbox.ts'
import { formatValkey, isValkey } from './show-valkey.ts'

export { escapeControls, formatBytes, formatMilliseconds, formatMoney, formatShare, groupDigits }

/** How a person wants times. */
export interface Clock {
  /** Milliseconds since the epoch, for ages. */
  now: number
  /** Absolute times instead of ages. */
  utc: boolean
}

/** What a value means for whoever looks; each surface has its own colour for it. */
export type Tone = 'strong' | 'quiet' | 'good' | 'bad' | 'warning'

export type Format = NonNullable<Column['format']>

export const absent = '–'

/** The value at a path like `key.name`, of each item where the path leads through a list; undefined where it ends early. */
export function valueAt(row: unknown, path: string): unknown {
  let place = row
  for (const step of path.split('.')) place = stepInto(place, step)
  return place
}

function stepInto(place: unknown, step: string): unknown {
  if (Array.isArray(place)) return place.map((item) => stepInto(item, step))
  return typeof place === 'object' && place !== null ? Reflect.get(place, step) : undefined
}

/** One value in words, without colour. Text from outside cannot move the cursor or change the terminal. */
export function formatValue(value: unknown, format: Format, view: Clock): string {
  if (value === null || value === undefined || value === '') return absent
  if (typeof value === 'number') return formatNumber(value, format)
  if (typeof value === 'boolean') return value ? 'yes' : format === 'flag' ? absent : 'no'
  if (Array.isArray(value)) {
    if (format === 'nearest') return formatNearest(value.filter(isLimitUsage)) ?? absent
    const items = value.map((item) => formatItem(item, format, view))
    return items.length === 0 ? absent : items.join(', ')
  }
  if (typeof value === 'object') return formatObject(value, view)
  if (format === 'age') return formatTime(String(value), view)
  if (format === 'time') return formatMoment(String(value))
  return escapeControls(String(value))
}

function formatItem(item: unknown, format: Format, view: Clock): string {
  if (format === 'targets') return formatTarget(item)
  return format === 'rules' ? formatRule(item) : formatValue(item, 'text', view)
}

/** `keys: block secrets` */
function formatRule(rule: unknown): string {
  const [name, action, detector, pattern] = ['name', 'action', 'detector', 'pattern'].map((one) => valueAt(rule, one))
  return escapeControls(`${String(name)}: ${String(action)} ${String(detector ?? `/${String(pattern)}/`)}`)
}

/** One cell of a row, in words. */
export function formatCell(row: unknown, column: Column, view: Clock): string {
  const { also, unit, absent: missing = absent } = column
  const text = formatLimitCell(row, column) ?? formatValue(mainValue(row, column), column.format ?? 'text', view)
  const main = text === absent ? missing : unit === undefined ? text : `${text} ${unit}`
  const more = also === undefined ? absent : formatValue(briefly(row, also), 'text', view)
  return also === undefined || more === absent ? main : `${main}${also.join}${more}`
}

/** Amounts of a limit are written as what it counts. */
function formatLimitCell(row: unknown, column: Column): string | null {
  if (!isLimitUsage(row)) return null
  switch (column.format) {
    case 'limit':
      return nameLimit(row)
    case 'used':
      return formatUsed(row)
    case 'amount': {
      const amount = mainValue(row, column)
      return typeof amount === 'number' ? formatAmount(row, amount) : null
    }
    default:
      return null
  }
}

/** A cell has room for a word, where there is one for what is otherwise a sentence. */
function briefly(row: unknown, { field, brief }: NonNullable<Column['also']>): unknown {
  return (brief === undefined ? null : valueAt(row, brief)) ?? valueAt(row, field)
}

function mainValue(row: unknown, { field, otherwise }: Column): unknown {
  const value = valueAt(row, field)
  return otherwise !== undefined && (value === null || value === undefined) ? valueAt(row, otherwise) : value
}

/** Its colour: what looks well and has something behind it is not. */
export function toneOfCell(row: unknown, column: Column): Tone | null {
  const { format = 'text', also } = column
  const tone = toneOf(mainValue(row, column), format)
  const more = also === undefined ? null : valueAt(row, also.field)
  return tone === 'good' && more !== null && more !== undefined ? 'bad' : tone
}

/** In the order in which they are tried, as `--target` takes them: `openai, azure:gpt4o-eu`. */
function formatTarget(target: unknown): string {
  const upstream = valueAt(target, 'upstream_model')
  const provider = String(valueAt(target, 'provider'))
  const [weight, format] = [valueAt(target, 'weight'), valueAt(target, 'format')]
  const named = typeof upstream === 'string' ? `${provider}:${upstream}` : provider
  const weighs = typeof weight === 'number' && weight !== 1 ? `,weight=${weight}` : ''
  return escapeControls(`${named}${weighs}${typeof format === 'string' ? `,format=${format}` : ''}`)
}

function formatObject(value: object, view: Clock): string {
  const members = Object.entries(value).filter(([, member]) => member !== null)
  if (members.length === 0) return absent
  const { after, share, code, message } = value as Partial<Record<'after' | 'share' | 'code' | 'message', unknown>>
  // Of hedging it is a number of percent.
  if (typeof after === 'string' && typeof share === 'number') return escapeControls(`after ${after}, at most ${share}%`)
  if (typeof code === 'string' && typeof message === 'string') return escapeControls(`${code}: ${message}`)
  if (isAttempts(value)) return formatAttempts(value, view)
  if (isLimitUsage(value)) return `${escapeControls(nameScope(value.scope))}: ${formatLimitUsage(value)}`
  if (isShownHours(value))
    return escapeControls(`${nameHours(value)}: ${describeOpen(value, (time) => formatTime(time, view))}`)
  if (isValkey(value)) return escapeControls(formatValkey(value, (time) => formatTime(time, view)))
  if (isOutbox(value)) return escapeControls(formatOutbox(value, (time) => formatTime(time, view)))
  if (isConcerned(value)) {
    const reason = value.state_reason === null ? '' : `: ${value.state_reason}`
    return escapeControls(`${value.state} (${value.concerns})${reason}`)
  }
  // Names that somebody chose, as those of tags, stand as they were written.
  if (members.every(([, member]) => typeof member === 'string'))
    return members
      .map(([name, member]) => `${escapeControls(name)}=${formatValue(member, guessFormat(name), view)}`)
      .join(', ')
  return members.map(([name, member]) => formatMember(name, member, view)).join(', ')
}

/** The state of something that has no name of its own. */
interface ShownConcern {
  concerns: string
  state: string
  state_reason: string | null
}

function isConcerned(value: object): value is ShownConcern {
  return 'concerns' in value && 'state' in value && 'state_reason' in value
}

interface ShownAttempts {
  tried: number
  failed: number
  fell_back: number
}

function isAttempts(value: object): value is ShownAttempts {
  return (['tried', 'failed', 'fell_back'] as const).every((name) => typeof Reflect.get(value, name) === 'number')
}

/** `36 attempts, 12 failed (33%), 3 fell back, duration p95 1.2 s`: other names of the same counts are left out. */
function formatAttempts(figures: ShownAttempts, view: Clock): string {
  const { tried, failed, fell_back: fellBack } = figures
  if (tried === 0) return 'no attempts'
  const counted = ['tried', 'failed', 'fell_back', 'requests', 'errors']
  const more = Object.entries(figures).filter(([name, member]) => !counted.includes(name) && member !== null)
  return [
    `${groupDigits(tried)} ${tried === 1 ? 'attempt' : 'attempts'}`,
    failed === 0 ? 'none failed' : `${groupDigits(failed)} failed (${formatShare(failed / tried)})`,
    ...(fellBack === 0 ? [] : [`${groupDigits(fellBack)} fell back`]),
    ...more.map(([name, member]) => formatMember(name, member, view)),
  ].join(', ')
}

/** `3 requests`, `total 2 s`, `source reported` */
function formatMember(name: string, member: unknown, view: Clock): string {
  const format = guessFormat(name)
  const text = formatValue(member, format, view)
  const title = escapeControls(withoutUnit(name).replaceAll('_', ' '))
  return format === 'number' ? `${text} ${title}` : `${title} ${text}`
}

/** For what nobody described: the stable field names say what a value is (`expires_at`, `duration_ms`). */
export function guessFormat(field: string): Format {
  if (/(^|_)(at|since|until)$|^time$/.test(field)) return 'age'
  if (/(^|_)ms$/.test(field)) return 'duration'
  if (/(^|_)bytes$|^held_limit$/.test(field)) return 'bytes'
  if (/(^|_)usd(_day|_month)?$|^usd_per_/.test(field)) return 'money'
  if (/(^|_)share$/.test(field)) return 'share'
  if (/(^|_)(tokens(_day|_month)?|requests|errors)$|^[rt]pm$|^max_(in|out)put$/.test(field)) return 'number'
  if (/^cap_/.test(field)) return 'flag'
  if (field === 'state' || field === 'status') return 'state'
  return field === 'id' ? 'id' : 'text'
}

/** `duration_ms` → `duration`: the value carries its unit. */
export function withoutUnit(field: string): string {
  return field.replace(/_(ms|bytes|usd)$/, '')
}

function formatNumber(value: number, format: Format): string {
  if (format === 'duration') return value < 0 ? `-${formatMilliseconds(-value)}` : formatMilliseconds(value)
  if (format === 'bytes') return formatBytes(value)
  if (format === 'size') return describeSize(value)
  if (format === 'money') return formatMoney(value)
  if (format === 'rate') return formatRate(value)
  if (format === 'share') return formatShare(value)
  if (format === 'number') return groupDigits(value)
  return String(value)
}

function formatTime(text: string, { now, utc }: Clock): string {
  const time = Date.parse(text)
  if (Number.isNaN(time)) return escapeControls(text)
  if (utc) return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z')
  const distance = now - time
  const amount = roughly(Math.abs(distance), distance >= 0 ? Math.floor : Math.round)
  if (amount === null) return 'now'
  return distance >= 0 ? `${amount} ago` : `in ${amount}`
}

/** `for 4 min`, of what began then and goes on; with `--utc` `since 2026-…`. */
export function formatSince(text: string, clock: Clock): string {
  const age = formatTime(text, clock)
  if (clock.utc) return `since ${age}`
  return age.endsWith(' ago') ? `for ${age.slice(0, -' ago'.length)}` : 'just now'
}

/** `2026-11-21 10:00Z`: where ages would not tell one line from the next. */
function formatMoment(text: string): string {
  const time = Date.parse(text)
  if (Number.isNaN(time)) return escapeControls(text)
  const [date, clock = ''] = new Date(time).toISOString().split('T')
  return `${date} ${clock.replace(/(:00)?\.\d+Z$/, 'Z')}`
}

/** One unit: it is read at a glance. An age is rounded down; what is ahead is not, so that what was made for 30 days says so. */
function roughly(milliseconds: number, round: (amount: number) => number): string | null {
  const seconds = round(milliseconds / 1000)
  const minutes = round(seconds / 60)
  const hours = round(seconds / 3600)
  if (seconds < 1) return null
  if (seconds < 60) return `${seconds} s`
  if (minutes < 60) return `${minutes} min`
  return hours < 24 ? `${hours} h` : `${round(seconds / 86_400)} d`
}

/** Colour of a state or status, by its first word. Unknown words stay plain. */
export function toneOf(value: unknown, format: Format): Tone | null {
  if (value === null || value === undefined) return 'quiet'
  if (format !== 'state') return null
  if (typeof value === 'number') return value < 400 ? 'good' : value < 500 ? 'warning' : 'bad'
  if (typeof value === 'boolean') return value ? 'good' : 'quiet'
  return tones[/^[a-z_]+/i.exec(String(value))?.[0].toLowerCase() ?? ''] ?? null
}

const tones: Record<string, Tone> = {
  ready: 'good',
  present: 'good',
  delivered: 'good',
  active: 'good',
  enabled: 'good',
  ok: 'good',
  taken: 'good',
  unchecked: 'warning',
  degraded: 'warning',
  cooling: 'warning',
  expiring: 'warning',
  failing: 'bad',
  absent: 'bad',
  failed: 'bad',
  interrupted: 'bad',
  expired: 'bad',
  revoked: 'quiet',
  inactive: 'quiet',
  disabled: 'quiet',
}
