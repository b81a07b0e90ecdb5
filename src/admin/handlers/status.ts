import { operations } from './base.ts'

export const status = operations.status.handler(async ({ context }) => {
  const { runtime, store } = context
  const [health, providers, routes, keys] = await Promise.all([
    store.health(),
    store.providers.list(),
    store.routes.list(null),
    store.keys.list(null, null),
  ])
  const now = runtime.status()
  const active = providers.filter((provider) => provider.active)
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
    degraded: [...new Set([...now.degraded, ...(health.degraded === null ? [] : [health.degraded])])],
    providers: {
      ready: count('ready'),
      failing: count('failing'),
      unchecked: count('unchecked'),
      inactive: providers.length - active.length,
    },
    routes: routes.length,
    keys: keys.filter(({ revokedAt }) => revokedAt === null).length,
    database_bytes: health.databaseBytes,
    journal_bytes: health.journalBytes,
    schema_version: health.schemaVersion,
  }
})
