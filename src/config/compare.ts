import type { Settings } from './settings.ts'

/** What is bound, opened or started once. */
const fixed = [
  'gateway.listen',
  'gateway.workers',
  'console.listen',
  'admin.socket',
  'admin.socket_group',
  'seal.machine_key_file',
  'cluster.postgres',
  'cluster.postgres_password',
  'cluster.postgres_ca',
  'cluster.node',
  'cluster.budgets',
  'cluster.limits',
  'cluster.valkey',
  'cluster.valkey_password',
  'cluster.valkey_ca',
  'cluster.limits_without_valkey',
  'cluster.records',
  'cluster.isolation_limit',
]

export interface SettingChanges {
  /** What can be applied while the gateway runs: the new settings, with the old values of all that cannot. */
  settings: Settings
  /** Names of the settings that changed and are in `settings`. */
  applied: string[]
  /** Names of those that wait for a restart. */
  waiting: string[]
}

/** Holds settings that were read again against those in use. */
export function compareSettings(current: Settings, next: Settings): SettingChanges {
  const changed = Object.keys(next.digests).filter((name) => next.digests[name] !== current.digests[name])
  // A listener that speaks TLS gets another certificate at any time, but never begins or ceases to speak it.
  const switched = (['gateway', 'console'] as const).filter(
    (section) => (next[section].tls === null) !== (current[section].tls === null),
  )
  const waits = (name: string) => fixed.includes(name) || switched.some((section) => name.startsWith(`${section}.tls.`))
  const waiting = changed.filter(waits)
  return {
    settings: keepFixed(current, next, switched, waiting),
    applied: changed.filter((name) => !waits(name)),
    waiting,
  }
}

function keepFixed(
  current: Settings,
  next: Settings,
  switched: readonly string[],
  waiting: readonly string[],
): Settings {
  const keptTls = (section: 'gateway' | 'console') =>
    switched.includes(section) ? current[section].tls : next[section].tls
  const { host, port, workers } = current.gateway
  return {
    ...next,
    gateway: { ...next.gateway, host, port, workers, tls: keptTls('gateway') },
    console: { ...next.console, host: current.console.host, port: current.console.port, tls: keptTls('console') },
    admin: current.admin,
    machineKeyFile: current.machineKeyFile,
    cluster: current.cluster,
    digests: { ...next.digests, ...Object.fromEntries(waiting.map((name) => [name, current.digests[name] ?? ''])) },
  }
}
