import type { PartName } from '../core/degraded.ts'
import type { ProviderStateName } from '../core/provider-state.ts'
import type { Family, Sample } from './exposition.ts'

/** What the metrics show of the running gateway, given by the composition root. Holds no secret. */
export interface GatewayState {
  workers: number
  inFlight: number
  heldBytes: number
  heldLimit: number
  requestsSinceStart: number
  /** The parts that can be degraded, and whether they are. `times`: how often since the start. */
  parts: { part: PartName; degraded: boolean; times: number }[]
  providers: MeasuredProvider[]
  budgets: MeasuredBudget[]
  /** Of accounts at providers. */
  accounts: MeasuredAccount[]
  routes: number
  /** Keys that are not revoked. */
  keys: number
  /** null: not known. */
  databaseBytes: number | null
  journalBytes: number | null
  /** How long records have waited to be stored. */
  recordLagMs: number | null
  /** Journal files with unreadable parts. */
  setAside: string[]
  /** Entries lost before they reached the journal. */
  entriesLost: number
  /** By thread, since the start. */
  longTurns: readonly { thread: string; count: number; longestMs: number }[]
  /** Tries to deliver alerts since the start, by what came of them. */
  deliveries: Readonly<Record<string, number>>
  /** null: traces are not exported. */
  traces: MeasuredTraces | null
  /** Of cached answers; null: not known. */
  cache: { answers: number; bytes: number; hits: number; misses: number } | null
}

/** Of requests since the start, as traces. */
export interface MeasuredTraces {
  /** Waiting to be exported. */
  pending: number
  /** By outcome: `exported`, or why they were not. */
  outcomes: Readonly<Record<string, number>>
  retries: number
}

/** Dollars or tokens of one budget in its present day or month. */
export interface MeasuredBudget {
  policy: string
  scope: string
  kind: string
  period: string
  used: number
  held: number
  limit: number
}

/** Of one limit of a provider's account; USD, tokens or requests. */
export interface MeasuredAccount {
  provider: string
  kind: string
  /** `minute` or `month` */
  period: string
  used: number
  held: number
  limit: number
}

export interface MeasuredProvider {
  name: string
  kind: string
  /** `inactive` is set by an operator. */
  state: ProviderStateName | 'inactive'
}

/** The gateway's current state as metrics. */
export function stateFamilies(version: string, state: GatewayState): Family[] {
  const providers = state.providers.map(({ name, kind, state }) => ({
    labels: { provider: name, kind, state },
    value: state === 'ready' ? 1 : 0,
  }))
  const degraded = state.parts.map(({ part, degraded }) => ({ labels: { part }, value: degraded ? 1 : 0 }))
  const times = state.parts.map(({ part, times }) => ({ labels: { part }, value: times }))
  return [
    gauge('spgw_info', 'The running gateway; always 1.', [{ labels: { version }, value: 1 }]),
    gauge('spgw_requests_in_flight', 'Requests in progress: admitted and not yet settled.', state.inFlight),
    gauge('spgw_held_bytes', 'Bytes of large bodies held in memory.', state.heldBytes),
    gauge('spgw_held_bytes_limit', 'Limit of spgw_held_bytes (gateway.held_limit).', state.heldLimit),
    counter(
      'spgw_requests_total',
      'Requests settled since the start, including rejected ones and those that share a record.',
      [{ value: state.requestsSinceStart }],
    ),
    gauge('spgw_workers', 'Running data-plane threads.', state.workers),
    gauge(
      'spgw_degraded',
      'Whether a part of the gateway is degraded (1) or healthy (0). For the reason, run spgw status.',
      degraded,
    ),
    counter('spgw_degraded_total', 'How often a part became degraded since the start.', times),
    gauge('spgw_provider_ready', 'Whether a provider is ready (1) or not (0), with its state.', providers),
    ...budgetFamilies(state.budgets),
    ...accountFamilies(state.accounts),
    gauge('spgw_routes', 'Routes.', state.routes),
    gauge('spgw_keys', 'Gateway keys that are not revoked.', state.keys),
    gauge('spgw_database_bytes', 'Size of the database with its write-ahead log.', state.databaseBytes),
    gauge('spgw_journal_bytes', 'Size of the request journal.', state.journalBytes),
    gauge('spgw_record_lag_seconds', 'How long records have waited to be stored.', inSeconds(state.recordLagMs)),
    gauge('spgw_journal_set_aside', 'Journal files with unreadable parts that were set aside.', state.setAside.length),
    counter('spgw_journal_entries_lost_total', 'Entries lost before they reached the journal since the start.', [
      { value: state.entriesLost },
    ]),
    counter(
      'spgw_alert_deliveries_total',
      'Tries to deliver alerts since the start, by outcome: delivered, retried, or failed for good.',
      Object.entries(state.deliveries).map(([outcome, value]) => ({ labels: { outcome }, value })),
    ),
    ...traceFamilies(state.traces),
    ...cacheFamilies(state.cache),
    counter(
      'spgw_long_turns_total',
      'Turns of an event loop that took more than 500 ms, by thread.',
      state.longTurns.map(({ thread, count }) => ({ labels: { thread }, value: count })),
    ),
    gauge(
      'spgw_longest_turn_seconds',
      'The longest turn of an event loop since the start, where one took more than 500 ms.',
      state.longTurns.map(({ thread, longestMs }) => ({ labels: { thread }, value: longestMs / 1000 })),
    ),
  ]
}

function budgetFamilies(budgets: readonly MeasuredBudget[]): Family[] {
  const of = (unit: string, figure: 'used' | 'held' | 'limit') =>
    budgets
      .filter(({ kind }) => kind === unit)
      .map(({ policy, scope, period, [figure]: value }) => ({ labels: { policy, scope, period }, value }))
  return [
    gauge('spgw_budget_used_usd', 'Spent of a budget in its day or month, in USD.', of('usd', 'used')),
    gauge('spgw_budget_held_usd', 'Held by requests in progress, in USD.', of('usd', 'held')),
    gauge('spgw_budget_limit_usd', 'Limit of the budget, in USD.', of('usd', 'limit')),
    gauge('spgw_budget_used_tokens', 'Used of a budget in its day or month, in tokens.', of('tokens', 'used')),
    gauge('spgw_budget_held_tokens', 'Held by requests in progress, in tokens.', of('tokens', 'held')),
    gauge('spgw_budget_limit_tokens', 'Limit of the budget, in tokens.', of('tokens', 'limit')),
  ]
}

function accountFamilies(accounts: readonly MeasuredAccount[]): Family[] {
  const of = (figure: 'used' | 'held' | 'limit') =>
    accounts.map(({ provider, kind, period, [figure]: value }) => ({ labels: { provider, kind, period }, value }))
  return [
    gauge(
      'spgw_account_used',
      "Used of a limit of a provider's account, in its kind: requests, tokens or usd.",
      of('used'),
    ),
    gauge('spgw_account_held', 'Held by requests in progress.', of('held')),
    gauge('spgw_account_limit', 'Limit of the account.', of('limit')),
  ]
}

function cacheFamilies(cache: GatewayState['cache']): Family[] {
  if (cache === null) return []
  const { answers, bytes, hits, misses } = cache
  return [
    gauge('spgw_cached_answers', 'Answers in the response cache.', answers),
    gauge('spgw_cached_answer_bytes', 'Bytes of the answers in the response cache, compressed.', bytes),
    counter('spgw_cache_lookups_total', 'Look-ups in the response cache since the store started, by outcome.', [
      { labels: { outcome: 'hit' }, value: hits },
      { labels: { outcome: 'miss' }, value: misses },
    ]),
  ]
}

function traceFamilies(traces: MeasuredTraces | null): Family[] {
  if (traces === null) return []
  const outcomes = Object.entries(traces.outcomes).map(([outcome, value]) => ({ labels: { outcome }, value }))
  return [
    gauge('spgw_traces_pending', 'Requests that wait to be exported as traces.', traces.pending),
    counter(
      'spgw_traces_total',
      'Requests by what became of their trace since the start: exported, rejected by the collector, overflow (too many waited), or removed (the record was deleted first).',
      outcomes,
    ),
    counter('spgw_trace_export_retries_total', 'Exports of traces that failed and were tried again.', [
      { value: traces.retries },
    ]),
  ]
}

function counter(name: string, help: string, samples: Sample[]): Family {
  return { name, type: 'counter', help, samples }
}

function inSeconds(milliseconds: number | null): number | null {
  return milliseconds === null ? null : milliseconds / 1000
}

/** Null leaves the metric out: an unknown value is not 0. */
export function gauge(name: string, help: string, value: number | null | Sample[]): Family {
  const samples = Array.isArray(value) ? value : value === null ? [] : [{ value }]
  return { name, type: 'gauge', help, samples }
}
