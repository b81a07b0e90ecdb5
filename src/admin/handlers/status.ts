import { operations } from './base.ts'

/** From memory alone: how a sick gateway is must be told by the sick gateway. */
export const status = operations.status.handler(({ context }) => {
  const { runtime } = context
  const { configuration, keys } = runtime.snapshot()
  const now = runtime.status()
  const active = configuration.providers.filter((provider) => provider.active)
  const count = (state: string) => active.filter(({ readiness }) => readiness.state === state).length
  return {
    version: runtime.version,
    started_at: runtime.startedAt,
    gateway_url: runtime.gatewayUrl,
    console_url: runtime.consoleUrl,
    data_directory: runtime.dataDirectory,
    process_id: process.pid,
    workers: now.workers,
    in_flight: now.inFlight,
    requests_since_start: now.requestsSinceStart,
    degraded: now.degraded,
    providers: {
      ready: count('ready'),
      failing: count('failing'),
      unchecked: count('unchecked'),
      inactive: configuration.providers.length - active.length,
    },
    routes: configuration.routes.length,
    keys: new Set(keys.filter(({ revokedAt }) => revokedAt === null).map(({ id }) => id)).size,
    database_bytes: now.store?.databaseBytes ?? null,
    journal_bytes: now.store?.journalBytes ?? null,
    schema_version: now.store?.schemaVersion ?? null,
    records_stored_at: now.store?.storedAt ?? null,
    set_aside: now.store?.setAside ?? [],
    entries_lost: now.entriesLost,
  }
})
