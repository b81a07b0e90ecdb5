import type { z } from 'zod'
import { formatLimitUsage } from '../../src/admin/contract/show-limit.ts'
import { describeOpening } from '../../src/admin/contract/show-valkey.ts'
import {
  absent,
  escapeControls,
  formatMilliseconds,
  formatMoney,
  formatShare,
  formatSince,
  formatValue,
} from '../../src/admin/contract/show-value.ts'
import type { statusShape } from '../../src/admin/contract/status.ts'
import { clockApart, describeApart } from '../../src/core/clock-apart.ts'
import { nameDegraded, unreadyParts } from '../../src/core/degraded.ts'
import { describeStanding } from '../../src/core/node-condition.ts'
import type { View } from './view.ts'
import { hangingLines } from './wrap.ts'

type Status = z.infer<typeof statusShape>

const titleWidth = 9

/** `status`: whether it is well, since when it runs, what passes through it now, and what it stands on. */
export function renderStatus(output: unknown, view: View): string {
  // As the gateway answered: a newer one may say more, an older one less, and both are worth showing.
  const status = output as Status
  const lines: [title: string, text: string][] = [
    ['gateway', status.gateway_url],
    ['console', status.console_url ?? absent],
    ['running', describeProcess(status, view)],
    ['traffic', describeTraffic(status)],
    ['providers', describeProviders(status)],
    ['routes', number(status.routes)],
    ['keys', number(status.keys)],
    ...describeBudgets(status, view),
    ['disk', describeDisk(status)],
    ['records', describeRecords(status, view)],
    ...describeRemoval(status, view),
    ...describeTraces(status),
    ...describeCluster(status, view),
    ...describeNodes(status, view),
    ...(status.set_aside.length === 0 ? [] : [listSetAside(status)]),
    ...describeTurns(status, view),
    ['data', status.data_directory],
    ...(typeof status.settings_file === 'string' ? [['settings', status.settings_file] as [string, string]] : []),
  ]
  const plain = lines.flatMap(([title, text]) => {
    const [first = '', ...more] = hangingLines(escapeControls(text), titleWidth + 2, view.width)
    return [`${view.paint('quiet', title.padEnd(titleWidth))}  ${first}`, ...more]
  })
  return `${[...describeHealth(status, view), ...plain].join('\n')}\n`
}

function describeHealth({ version, draining, degraded, cluster }: Status, view: View): string[] {
  const name = view.paint('strong', `spgw ${escapeControls(version)}`)
  const parts = [...describeParts(degraded, view), ...describeWait(cluster, view)]
  const warn = (words: string) => [`${name}  ${view.paint('warning', words)}`, ...parts]
  if (draining) return warn('▲ out of service, still serving requests that come; to undo: spgw cluster drain --undo')
  if (parts.length === 0) return [`${name}  ${view.paint('good', '● healthy')}`]
  if (degraded.length === 0) return warn('▲ serving; shared limits are not granted yet')
  const isReady = !degraded.some(({ part }) => unreadyParts.has(part))
  return warn(isReady ? '▲ degraded, still serving' : '▲ not ready: /readyz says 503')
}

function describeParts(degraded: Status['degraded'], view: View): string[] {
  return degraded.map(({ part, since, reason }) =>
    hangPart(part, `${formatSince(since, view)}: ${escapeControls(reason)}`, view),
  )
}

/** Nothing is wrong, so it is no degraded part; an older gateway does not tell. */
function describeWait(cluster: Status['cluster'] | undefined, view: View): string[] {
  const said = describeOpening(cluster?.valkey?.opening_until, (time) => formatValue(time, 'age', view))
  return said.map((words) => hangPart('limits', words, view))
}

function hangPart(part: string, text: string, view: View): string {
  const [first = '', ...more] = hangingLines(text, part.length + 4, view.width)
  return [`  ${view.paint('warning', part)}  ${first}`, ...more].join('\n')
}

function describeProcess({ started_at, process_id, workers }: Status, view: View): string {
  const threads = workers === 1 ? '1 worker thread' : `${workers} worker threads`
  return `${formatSince(started_at, view)}, process ${process_id}, ${threads}`
}

/** Of the last minute; what nobody may see, or nothing has been, is left out. */
function describeTraffic({ traffic, in_flight, held_bytes, requests_since_start }: Status): string {
  const parts = [
    ...describeFlow(traffic, in_flight),
    ...describeHeld(held_bytes),
    ...(requests_since_start === null ? [] : [`${number(requests_since_start)} since start`]),
  ]
  return parts.length === 0 ? absent : parts.join('   ')
}

function describeFlow(traffic: Status['traffic'] | undefined, inFlight: number | null): string[] {
  const now =
    traffic === null || traffic === undefined
      ? []
      : [
          `${perSecond(traffic.requests_per_second)} req/s`,
          ...(traffic.error_share === null ? [] : [`${formatShare(traffic.error_share)} errors`]),
          ...(traffic.duration_p95_ms === null ? [] : [`p95 ${formatMilliseconds(traffic.duration_p95_ms)}`]),
          ...(traffic.usd_per_hour === null ? [] : [`${formatMoney(traffic.usd_per_hour)}/h`]),
        ]
  return [...now, ...(inFlight === null ? [] : [`${number(inFlight)} in flight`])]
}

/** Worth a word only where large bodies are held. */
function describeHeld(bytes: number | null): string[] {
  return bytes === null || !(bytes > 0)
    ? []
    : [`${formatValue(bytes, 'bytes', { now: 0, utc: true })} of request bodies in memory`]
}

function perSecond(rate: number): string {
  return rate >= 100 ? number(Math.round(rate)) : rate.toFixed(1)
}

function describeProviders({ providers }: Status): string {
  const counts = Object.entries(providers).filter(([, count]) => count > 0)
  if (counts.length === 0) return 'none yet'
  const isTroubled = providers.failing > 0 || providers.recovering > 0
  const words = counts.map(([state, count]) => `${count} ${state}`).join(', ')
  return isTroubled ? `▲ ${words}; which and why: spgw providers list` : words
}

const shownBudgets = 3

/** Those nearest to their end; an older gateway does not tell. */
function describeBudgets({ budgets = [] }: Partial<Status>, view: View): [string, string][] {
  const lines = budgets.slice(0, shownBudgets).map((budget) => {
    const { policy, scope, resets_at } = budget
    return `${scope}: ${formatLimitUsage(budget)} (policy ${policy}), resets ${formatValue(resets_at, 'age', view)}`
  })
  const more = budgets.length > shownBudgets ? ['more: spgw policies usage'] : []
  return [...lines, ...more].map((line, index) => [index === 0 ? 'budgets' : '', line])
}

function describeDisk(status: Status): string {
  const { disk_free_bytes, database_bytes, database_limit_bytes, journal_bytes, schema_version } = status
  const bytes = (amount: number | null) => formatValue(amount, 'bytes', { now: 0, utc: true })
  const schema = schema_version === null ? '' : `, schema ${schema_version}`
  const free = disk_free_bytes === null || disk_free_bytes === undefined ? '' : `${bytes(disk_free_bytes)} free, `
  // An older gateway does not tell.
  const most = typeof database_limit_bytes === 'number' ? ` of at most ${bytes(database_limit_bytes)}` : ''
  return `${free}database ${bytes(database_bytes)}${most}, journal ${bytes(journal_bytes)}${schema}`
}

/** An older gateway does not tell. */
function describeRemoval({ removal_held_until: until }: Partial<Status>, view: View): [string, string][] {
  if (typeof until !== 'string') return []
  const text = `▲ no record is removed before ${formatValue(until, 'time', view)}: the clock went ahead by more than a day. Is it right?`
  return [['retention', text]]
}

/** Where they are exported; an older gateway does not tell. */
function describeTraces({ traces }: Partial<Status>): [string, string][] {
  if (traces === null || traces === undefined) return []
  const { endpoint, pending, exported, dropped, trouble } = traces
  const counts = [`${number(exported)} exported`, `${number(pending)} waiting`, `${number(dropped)} dropped`].join(', ')
  return [['traces', `${counts} (${endpoint})${trouble === null ? '' : `; ${trouble}`}`]]
}

/** Where its settings name one; an older gateway does not tell. */
function describeCluster({ cluster }: Partial<Status>, view: View): [string, string][] {
  if (cluster === null || cluster === undefined) return []
  if (cluster.id === null) return [['cluster', 'none yet: spgw cluster init, or spgw cluster join TOKEN']]
  const { outbox } = cluster
  const waiting = outbox === null || outbox === undefined ? absent : formatValue(outbox, 'text', view)
  // Worth a line only where something is.
  const isAll = waiting === absent || waiting === 'nothing'
  return [['cluster', cluster.id], ...(isAll ? [] : [['', `not shared yet: ${waiting}`] as [string, string]])]
}

/** Of a cluster, where there are others; an older gateway does not tell. */
function describeNodes({ cluster }: Partial<Status>, view: View): [string, string][] {
  const nodes = cluster?.nodes ?? []
  if (nodes.length < 2) return []
  return nodes.map(({ name, state, in_flight, traffic, degraded, clock_ahead_ms, draining }, index) => {
    const flow = describeStanding(state) ?? describeFlow(traffic, in_flight).join('   ')
    const parts = degraded.map(({ part, since }) => `${nameDegraded(part)} ${formatSince(since, view)}`)
    const apart = clockApart(clock_ahead_ms)
    const clock = apart === null ? [] : [`▲ clock ${describeApart(apart)} PostgreSQL: spgw cluster status`]
    const out = draining === true ? ['▲ out of service'] : []
    const words = [...out, ...(flow === '' ? [] : [flow]), ...(index === 0 ? [] : parts), ...clock].join('; ')
    return [
      index === 0 ? 'nodes' : '',
      `${name}${index === 0 ? ' (this one)' : ''}: ${words === '' ? 'healthy' : words}`,
    ]
  })
}

/** Below `journal/set-aside`; each is looked for by its name. */
function listSetAside({ set_aside }: Status): [string, string] {
  return ['set aside', set_aside.join(', ')]
}

/** Threads that something kept busy for too long; an older gateway does not tell. */
function describeTurns({ long_turns }: Partial<Status>, view: View): [string, string][] {
  return (long_turns ?? []).map(({ thread, count, longest_ms, last_at, last_work }) => {
    const ago = formatValue(last_at, 'age', view)
    const work = last_work === null ? '' : ` (${last_work})`
    const times = count === 1 ? 'once' : `${number(count)} times`
    return ['blocked', `${thread}: ${times}, at most ${formatMilliseconds(longest_ms)}, last ${ago}${work}`]
  })
}

function describeRecords({ records_stored_at, entries_lost }: Status, view: View): string {
  const stored =
    records_stored_at === null ? 'not stored yet' : `stored up to ${formatValue(records_stored_at, 'age', view)}`
  const lost = entries_lost === 0 ? '' : `, ${number(entries_lost)} lost`
  return stored + lost
}

function number(amount: number): string {
  return formatValue(amount, 'number', { now: 0, utc: true })
}
