import type { Family, Sample } from './exposition.ts'
import type { GatewayState } from './gateway-state.ts'

/** What is true of the gateway at this moment. */
export function stateFamilies(version: string, state: GatewayState): Family[] {
  const providers = state.providers.map(({ name, kind, state }) => ({
    labels: { provider: name, kind, state },
    value: state === 'ready' ? 1 : 0,
  }))
  const degraded = state.parts.map(({ part, degraded }) => ({ labels: { part }, value: degraded ? 1 : 0 }))
  const times = state.parts.map(({ part, times }) => ({ labels: { part }, value: times }))
  return [
    gauge('spgw_info', 'The running gateway; always 1.', [{ labels: { version }, value: 1 }]),
    gauge('spgw_requests_in_flight', 'Requests that were admitted and are not settled.', state.inFlight),
    gauge('spgw_held_bytes', 'Bytes of large bodies that are held in memory.', state.heldBytes),
    gauge('spgw_held_bytes_limit', 'Most of them that may be (gateway.held_limit).', state.heldLimit),
    counter(
      'spgw_requests_total',
      'Requests that were settled since the start, refused ones too, those that share a record included.',
      [{ value: state.requestsSinceStart }],
    ),
    gauge('spgw_workers', 'Data-plane threads that are alive.', state.workers),
    gauge(
      'spgw_degraded',
      'Whether a part of the gateway is degraded (1) or well (0); spgw status says why.',
      degraded,
    ),
    counter('spgw_degraded_total', 'How often a part has become degraded since the start.', times),
    gauge('spgw_provider_ready', 'Whether a provider is given traffic (1) or not (0), and its state.', providers),
    gauge('spgw_routes', 'Routes.', state.routes),
    gauge('spgw_keys', 'Gateway keys that are not revoked.', state.keys),
    gauge('spgw_database_bytes', 'Size of the database with its write-ahead log.', state.databaseBytes),
    gauge('spgw_journal_bytes', 'Size of the request journal.', state.journalBytes),
    gauge('spgw_record_lag_seconds', 'For how long records have waited to be stored.', inSeconds(state.recordLagMs)),
    gauge('spgw_journal_set_aside', 'Parts of the journal that could not be read, as files.', state.setAside.length),
    counter('spgw_journal_entries_lost_total', 'Entries that never reached the journal since the start.', [
      { value: state.entriesLost },
    ]),
  ]
}

function counter(name: string, help: string, samples: Sample[]): Family {
  return { name, type: 'counter', help, samples }
}

function inSeconds(milliseconds: number | null): number | null {
  return milliseconds === null ? null : milliseconds / 1000
}

/** Null leaves the metric out: a figure that is not known is not 0. */
export function gauge(name: string, help: string, value: number | null | Sample[]): Family {
  const samples = Array.isArray(value) ? value : value === null ? [] : [{ value }]
  return { name, type: 'gauge', help, samples }
}
