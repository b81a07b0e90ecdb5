import type { ServerFacts, ValkeyFacts } from '../../cluster/protocol.ts'
import type { ValkeySettings } from '../../config/settings.ts'
import { clockApart, clockRemedy, describeApart } from '../../core/clock-apart.ts'
import { type Diagnostic, ok, problem, warning } from '../../core/diagnostic.ts'

const check = 'cluster'

export function showPostgres(place: string, facts: ServerFacts): Diagnostic {
  const { version, tls, isReadOnly, isForeign, standbys, synchronous } = facts
  if (isReadOnly)
    return problem(
      check,
      `${place} takes no changes (default_transaction_read_only)`,
      'Let it take changes again, or set cluster.postgres to one that does.',
    )
  if (isForeign)
    return problem(
      check,
      `the database of ${place} has a schema spgw that is not a cluster`,
      'Drop that there, or name another database in cluster.postgres.',
    )
  const followed = standbys === 0 ? 'no standby' : `${standbys} standby${standbys === 1 ? '' : 's'}`
  const how = standbys === 0 ? '' : synchronous ? ', synchronous' : ', asynchronous'
  return ok(check, `${place} is reached (${version}, ${tls ?? 'not encrypted'}, ${followed}${how})`)
}

export function showClock({ aheadMs }: Pick<ServerFacts, 'aheadMs'>): Diagnostic[] {
  const apart = clockApart(aheadMs)
  if (apart === null) return []
  return [warning(check, `the clock of this machine is ${describeApart(apart)} PostgreSQL's`, clockRemedy)]
}

/** A node reads and writes rows; who can take it over should get no more than that. */
export function showRights({ user, rights, missing, isForeign }: ServerFacts): Diagnostic[] {
  if (isForeign) return []
  if (missing.length > 0)
    return [
      problem(
        check,
        `${user} may do less in PostgreSQL than a node needs: it ${missing.join(', ')}`,
        'Grant it as the owner of the schema spgw: docs/cluster.md, Users of PostgreSQL.',
      ),
    ]
  if (rights.length === 0) return [ok(check, `${user} may do no more in PostgreSQL than a node needs`)]
  const message = `${user} may do more in PostgreSQL than a node needs: it ${rights.join(', ')}`
  return [
    warning(
      check,
      message,
      'Let nodes connect as a user that reads and writes rows: docs/cluster.md, Users of PostgreSQL.',
    ),
  ]
}

/** Limits whose counts are dropped are closed until all nodes have said again what they use. */
export function showEviction(place: string, { evicts }: ValkeyFacts): Diagnostic[] {
  if (evicts === null) return []
  return [
    warning(
      check,
      `${place} may drop what counts shared limits when its memory is full (maxmemory-policy ${evicts})`,
      'Set maxmemory-policy noeviction there: docs/cluster.md, Limits shared through Valkey.',
    ),
  ]
}

const withoutValkey: Record<ValkeySettings['without'], string> = {
  share: 'Until it is back each node goes by its part of shared limits: docs/cluster.md',
  refuse: 'Until it is back requests under shared limits are refused (cluster.limits_without_valkey): docs/cluster.md',
  local:
    'Until it is back each node lets the whole of shared limits pass (cluster.limits_without_valkey): docs/cluster.md',
}

/** What a node does until the server is back. `degraded`: what of the gateway that runs is. */
export function describeMeanwhile(
  name: 'postgres' | 'valkey',
  without: ValkeySettings['without'],
  degraded: readonly string[],
): string {
  if (degraded.includes('isolated'))
    return 'Requests are refused until PostgreSQL or Valkey is reached (cluster.isolation_limit): docs/cluster.md'
  if (name === 'valkey') return withoutValkey[without]
  return 'Requests are served, and the configuration is read-only until it is back: docs/cluster.md'
}

/** What servers and TLS say where the settings are wrong, and time alone mends nothing. */
const ofSettings =
  /password|WRONGPASS|NOAUTH|NOPERM|role ".*" (does not exist|is not permitted)|database ".*" does not exist|certificate|pg_hba|SSL|TLS/

/** `isReached`: by the gateway that runs. `meanwhile`: what holds until the server is back; null: none runs. */
export function showServer(
  place: string,
  name: 'postgres' | 'valkey',
  trouble: string | null,
  isReached: boolean,
  meanwhile: string | null,
): Diagnostic {
  if (trouble === null) return ok(check, `${place} is reached`)
  const settings = /certificate|SSL|TLS/.test(trouble)
    ? `cluster.${name}, its authority or the server's certificate`
    : `cluster.${name}, its password or its authority`
  if (isReached)
    return warning(
      check,
      `${place} is not reached from this shell: ${trouble}; the gateway that runs reaches it`,
      ofSettings.test(trouble)
        ? `Correct ${settings}, if the gateway is to reach it also after a restart.`
        : 'The gateway is not affected. Run the check again.',
    )
  if (trouble.startsWith('it is '))
    return problem(check, `${place} cannot be used: ${trouble}`, meanwhile ?? 'Then run the check again.')
  const wrong = `Correct ${settings}${meanwhile === null ? '.' : ', and restart the gateway.'}`
  return problem(
    check,
    `${place} is not reached: ${trouble}`,
    meanwhile === null || ofSettings.test(trouble) ? wrong : meanwhile,
  )
}
