import { formatBytes, valueAt } from '../../src/admin/contract/show-value.ts'
import { failsOften } from '../../src/core/attempt-figures.ts'
import type { Diagnostic } from '../../src/core/diagnostic.ts'
import { ok, problem, warning } from '../../src/core/diagnostic.ts'
import type { GatewayClient } from '../operation.ts'

const dayMs = 24 * 3600_000
const soonMs = 14 * dayMs

/** One that does not answer in this time is not well, whatever else it does. */
const timeoutMs = 10_000
/** But to list a hundred thousand keys takes that long on a busy machine. */
const listTimeoutMs = 60_000

/** null: no gateway runs. */
export async function readStatus(gateway: GatewayClient): Promise<unknown> {
  try {
    return await ask(gateway, ['status'], {})
  } catch (error) {
    if (error instanceof Error && error.name === 'GatewayNotRunning') return null
    throw error
  }
}

function ask(gateway: GatewayClient, path: readonly string[], input: object, limitMs = timeoutMs): Promise<unknown> {
  return gateway.call(path, input, { signal: AbortSignal.timeout(limitMs) })
}

/** The resources of a gateway that runs, as far as they can be wrong. */
export async function checkGateway(
  gateway: GatewayClient,
  status: unknown,
  version: string,
  now: number,
): Promise<Diagnostic[]> {
  const [providers, routes, keys] = await Promise.all(
    ['providers', 'routes', 'keys'].map(async (area) => {
      const rows = await ask(gateway, [area, 'list'], area === 'providers' ? {} : { all: true }, listTimeoutMs)
      return Array.isArray(rows) ? (rows as unknown[]) : []
    }),
  )
  return [
    ...checkStatus(status, version),
    ...checkTurns(valueAt(status, 'long_turns'), now),
    ...checkProviders(providers ?? []),
    ...checkRoutes(routes ?? [], providers ?? []),
    ...checkKeys(keys ?? [], now),
  ]
}

/** By the reason, as the gateway words it (docs/troubleshooting.md has all). Requests go on being served but where it says otherwise. */
const remedies: readonly [reason: RegExp, remedy: string][] = [
  [/was removed from the cluster/, 'Stop this gateway. To let it continue alone instead: spgw cluster leave'],
  [/has not joined its cluster/, 'No requests are served until it has joined, or has keys.'],
  [/requests are refused: /, 'Let this machine reach PostgreSQL or Valkey: another node can serve meanwhile.'],
  // Of both the check of the cluster says more.
  [
    /PostgreSQL (cannot be reached: .*(password|certificate|role)|refused)/,
    'Correct cluster.postgres, its password or what its user may do: docs/cluster.md',
  ],
  [
    /PostgreSQL cannot be/,
    'Requests are served, and the configuration is read-only until it takes changes again: docs/cluster.md',
  ],
  [/waits? (for PostgreSQL|to be counted)/, 'Nothing is lost. To see what holds them back: spgw cluster status'],
  [
    /locked/,
    'Stop the program that holds the lock, such as a backup tool or an SQLite shell (fuser spgw.db shows it). For backups: spgw backup',
  ],
  [/full|ENOSPC|EDQUOT/, 'Free some disk space; waiting records are then written.'],
  [/read-only|EROFS|EIO|failed to/, 'Check the disk and the system log, then mount the disk read-write again.'],
  [/EFBIG/, 'Raise the file size limit (ulimit -f, or LimitFSIZE= of the service) and restart the gateway.'],
  [/permission|EACCES/, "Give the files back to the gateway's user: chown -R USER DIRECTORY"],
  [/recreated|created again/, 'No action is needed, but find out what deleted it.'],
  [/rescued/, 'Stop the gateway, move the rescued file to spgw.db and start the gateway again.'],
  [/damaged/, 'Stop the gateway, keep its journal and restore a backup: spgw restore FILE --force'],
]

/** By what passes of shared limits while Valkey is away. */
const withoutValkey: Readonly<Record<string, string>> = {
  refuse:
    'Requests under shared limits are refused until it is back (cluster.limits_without_valkey); all others are served: docs/cluster.md',
}

/** `refuses`: the gateway serves nothing, whatever a part alone would mean. */
function adviseDegraded(reason: string, refuses: boolean, meanwhile: string): string {
  const served =
    withoutValkey[meanwhile] ?? 'Requests are served. To see what shared limits let pass meanwhile: spgw cluster status'
  const known = /^Valkey cannot be/.test(reason) ? served : remedies.find(([pattern]) => pattern.test(reason))?.[1]
  if (refuses && (known === undefined || known === served || known.startsWith('Requests are served')))
    return "Requests are refused, as the part isolated says; see the gateway's log for details."
  return known ?? "Requests are still served; see the gateway's log for details."
}

/** Names of the parts. A gateway that is no member of its cluster yet says nothing of the servers: it may not reach them. */
export function listDegraded(status: unknown): string[] {
  const degraded = valueAt(status, 'degraded')
  return [
    ...(Array.isArray(degraded) ? degraded : []).map((part) => String(valueAt(part, 'part'))),
    ...(valueAt(status, 'cluster.id') === null ? ['postgres', 'valkey'] : []),
  ]
}

function checkStatus(status: unknown, version: string): Diagnostic[] {
  const theirs = String(valueAt(status, 'version'))
  const place = `${valueAt(status, 'gateway_url')} (process ${valueAt(status, 'process_id')})`
  const degraded = valueAt(status, 'degraded')
  const refuses = listDegraded(status).includes('isolated')
  const meanwhile = String(valueAt(status, 'cluster.valkey.meanwhile'))
  const lost = Number(valueAt(status, 'entries_lost'))
  return [
    theirs === version
      ? ok('gateway', `spgw ${theirs} is running at ${place}`)
      : warning(
          'gateway',
          `spgw ${theirs} is running at ${place}, but this executable is ${version}`,
          'Restart the gateway with this executable.',
        ),
    ...(Array.isArray(degraded) ? degraded : []).map((part) =>
      problem(
        String(valueAt(part, 'part')),
        `degraded since ${valueAt(part, 'since')}: ${valueAt(part, 'reason')}`,
        adviseDegraded(String(valueAt(part, 'reason')), refuses, meanwhile),
      ),
    ),
    ...checkDisk(status),
    ...checkRemoval(valueAt(status, 'removal_held_until')),
    ...(lost > 0
      ? [
          warning(
            'records',
            `${lost} journal entries lost since the gateway started`,
            'See docs/troubleshooting.md and the log of that time.',
          ),
        ]
      : []),
  ]
}

/** A little above is how it goes while the oldest records are being removed. */
const overShare = 1.1
/** The write-ahead log beside it keeps up to this (src/store/sqlite/sqlite.ts), whatever the limit. */
const logBytes = 64 * 1024 * 1024

function checkDisk(status: unknown): Diagnostic[] {
  const bytes = valueAt(status, 'database_bytes')
  const most = valueAt(status, 'database_limit_bytes')
  if (typeof bytes !== 'number' || typeof most !== 'number') return []
  const message = `database ${formatBytes(bytes)} of at most ${formatBytes(most)} (records.max_disk)`
  if (bytes <= most * overShare + logBytes) return [ok('max_disk', message)]
  return [
    warning(
      'max_disk',
      message,
      'Old records are being removed. If this lasts, raise records.max_disk, or stop, run spgw backup and restore it to rewrite the file.',
    ),
  ]
}

function checkRemoval(until: unknown): Diagnostic[] {
  if (typeof until !== 'string') return []
  const message = `the clock is more than a day ahead of when old records were last looked for: none is removed before ${until}`
  const remedy =
    'If the clock is wrong, set it right before then. If it is right (the gateway was stopped), do nothing.'
  return [warning('retention', message, remedy)]
}

const recentMs = 3600_000
/** Shorter ones happen on a busy machine. */
const longTurnMs = 2000

/** Threads that something kept busy so long that requests or changes waited for it. */
function checkTurns(turns: unknown, now: number): Diagnostic[] {
  const recent = (Array.isArray(turns) ? (turns as unknown[]) : []).filter(
    (turn) =>
      Number(valueAt(turn, 'longest_ms')) >= longTurnMs &&
      now - Date.parse(String(valueAt(turn, 'last_at'))) < recentMs,
  )
  return recent.map((turn) => {
    const seconds = (Number(valueAt(turn, 'longest_ms')) / 1000).toFixed(1)
    const work = valueAt(turn, 'last_work')
    const said = `the ${valueAt(turn, 'thread')} was blocked for up to ${seconds} s${work ? ` (${work})` : ''}`
    return warning('threads', said, "See the gateway's log for what ran, and report it: no input should do this.")
  })
}

function checkProviders(providers: readonly unknown[]): Diagnostic[] {
  if (providers.length === 0) {
    return [warning('providers', 'none yet', 'Add one: spgw providers add openai --kind openai --credential-stdin')]
  }
  const active = providers.filter((provider) => valueAt(provider, 'active') === true)
  const bad = active.flatMap(checkProvider)
  return bad.length > 0 ? bad : [ok('providers', `${active.length} active, none failing`)]
}

function checkProvider(provider: unknown): Diagnostic[] {
  const name = String(valueAt(provider, 'name'))
  const state = valueAt(provider, 'state')
  const look = `Check it again: spgw providers check ${name}`
  if (state === 'failing') {
    const reason = valueAt(provider, 'state_reason') ?? 'no reason given'
    const header = /^its stored header (\S+) cannot/.exec(String(reason))?.[1]
    const edit = `spgw providers edit ${name}`
    const replace = String(reason).includes('credential') ? `Replace its credential: ${edit} --credential-stdin` : look
    const remedy = header === undefined ? replace : `Give its value: ${edit} --header ${header}=VALUE`
    return [problem('providers', `${name} is failing: ${reason}${describeFailed(provider)}`, remedy)]
  }
  if (state === 'unchecked') return [warning('providers', `${name} has never been checked`, look)]
  const seen = `See its requests: spgw requests list --failed-at ${name} --since 1h`
  if (state === 'recovering') {
    const said = `${name} is recovering: ${valueAt(provider, 'state_reason')}${describeFailed(provider)}`
    return [warning('providers', said, seen)]
  }
  return [
    ...checkAttempts(provider, name, seen),
    ...checkTargets(provider, name, seen),
    ...checkOthers(provider, name, seen),
  ]
}

/** `; 36 of 36 attempts failed in the last hour` */
function describeFailed(provider: unknown): string {
  const { tried, failed } = attemptsOf(provider)
  return failed === 0 ? '' : `; ${failed} of ${tried} attempts failed in the last hour`
}

/** One that is ready and fails often. */
function checkAttempts(provider: unknown, name: string, remedy: string): Diagnostic[] {
  return !failsOften(attemptsOf(provider))
    ? []
    : [warning('providers', `${name} is ready${describeFailed(provider)}`, remedy)]
}

function attemptsOf(provider: unknown): { tried: number; failed: number } {
  const count = (name: string) => Number(valueAt(provider, `last_hour.${name}`)) || 0
  return { tried: count('tried'), failed: count('failed') }
}

/** A provider may be ready and one of its models not. */
function checkTargets(provider: unknown, name: string, remedy: string): Diagnostic[] {
  const targets = valueAt(provider, 'targets')
  return (Array.isArray(targets) ? (targets as unknown[]) : [])
    .filter((target) => ['failing', 'recovering'].includes(String(valueAt(target, 'state'))))
    .map((target) => {
      const [model, state] = [valueAt(target, 'upstream_model'), valueAt(target, 'state')]
      return warning('providers', `${name}/${model} is ${state}: ${valueAt(target, 'state_reason')}`, remedy)
    })
}

/** Calls that name no model. */
function checkOthers(provider: unknown, name: string, remedy: string): Diagnostic[] {
  const state = valueAt(provider, 'calls_without_model.state')
  if (state !== 'failing' && state !== 'recovering') return []
  const said = (field: string) => String(valueAt(provider, `calls_without_model.${field}`))
  const message = `calls of ${name} without a model (${said('concerns')}) are ${state}: ${said('state_reason')}`
  return [warning('providers', message, remedy)]
}

function checkRoutes(routes: readonly unknown[], providers: readonly unknown[]): Diagnostic[] {
  if (routes.length === 0) {
    return [warning('routes', 'none yet', 'Add one: spgw routes add MODEL --provider NAME')]
  }
  const usable = providers
    .filter((provider) => valueAt(provider, 'active') === true && valueAt(provider, 'state') !== 'failing')
    .map((provider) => valueAt(provider, 'name'))
  const enabled = routes.filter((route) => valueAt(route, 'enabled') === true)
  const dead = enabled.filter((route) => !namesOf(route).some((name) => usable.includes(name)))
  if (dead.length === 0) return [ok('routes', `${enabled.length} enabled, each with a usable provider`)]
  return dead.map((route) => {
    const model = String(valueAt(route, 'model'))
    const message = `${model} in ${valueAt(route, 'project')} has no provider that is active and ready`
    return problem('routes', message, `See why: spgw routes explain ${model}`)
  })
}

function namesOf(route: unknown): unknown[] {
  const names = valueAt(route, 'targets.provider')
  return Array.isArray(names) ? names : []
}

function checkKeys(keys: readonly unknown[], now: number): Diagnostic[] {
  const active = keys.filter((key) => valueAt(key, 'state') === 'active')
  if (keys.length === 0) return [warning('keys', 'none yet', 'Create one: spgw keys create --name NAME')]
  const worn = keys.flatMap((key) => checkKey(key, now))
  return worn.length > 0 ? worn : [ok('keys', `${active.length} active, none about to expire`)]
}

function checkKey(key: unknown, now: number): Diagnostic[] {
  const name = String(valueAt(key, 'name'))
  const until = Date.parse(String(valueAt(key, 'expires_at')))
  const prolong = `Extend it: spgw keys edit ${name} --expires 90d, or remove it.`
  if (valueAt(key, 'state') === 'expired') return [warning('keys', `${name} has expired`, prolong)]
  if (valueAt(key, 'state') !== 'active' || Number.isNaN(until) || until - now > soonMs) return []
  const days = Math.max(1, Math.ceil((until - now) / dayMs))
  return [warning('keys', `${name} expires in ${days === 1 ? 'a day' : `${days} days`}`, prolong)]
}
