import type { PostgresAddress, ValkeyAddress } from './protocol.ts'

/** A server of the cluster, as the settings name it. */
interface NamedServer extends Pick<PostgresAddress | ValkeyAddress, 'host' | 'authority'> {
  setting: 'postgres' | 'valkey'
}

const unknownAuthority = [
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
]

/** Beginnings of messages from a server, or from checking its certificate, and what to do about each. */
const advices: readonly [says: RegExp, advice: (setting: string) => string][] = [
  [
    /^password authentication failed/,
    (setting) => `correct cluster.${setting}_password, or the user in cluster.postgres`,
  ],
  [/^database ".*" does not exist/, () => 'create it, or correct cluster.postgres'],
  [
    /^permission denied for database/,
    () => 'a cluster is founded by a user who may create a schema there (docs/cluster.md, Users of PostgreSQL)',
  ],
  [
    /^permission denied for/,
    (setting) =>
      `let the user in cluster.${setting} read and write there (docs/cluster.md, Users of PostgreSQL); spgw doctor names every right that is missing`,
  ],
  [/^no pg_hba.conf entry/, () => 'let this machine in there, by a line of pg_hba.conf'],
  [/^sorry, too many clients|^remaining connection slots/, () => 'raise max_connections (a node needs up to eight)'],
  [/^too many connections for (role|database)/, () => 'raise its connection limit there (a node needs up to eight)'],
  [
    /^unsupported startup parameter/,
    () =>
      'connect past the pooler, or let it pool sessions, with ignore_startup_parameters = lock_timeout, statement_timeout',
  ],
  [/^The server does not support SSL/, () => 'set ssl = on there; to another machine connections are always encrypted'],
  [/^NOAUTH/, (setting) => `set cluster.${setting}_password`],
  [/^WRONGPASS/, (setting) => `correct cluster.${setting}_password, or the user in cluster.${setting}`],
  [/^OOM/, () => 'raise maxmemory there'],
  [/^getaddrinfo ENOTFOUND/, (setting) => `correct the name in cluster.${setting}, or the DNS of this machine`],
]

/** Why a server cannot be reached, with what to do if the settings or the server are wrong. */
export function explainLoss(error: unknown, asked: NamedServer): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return explainLoss(error.errors[0], asked)
  if (!(error instanceof Error)) return String(error)
  const { setting } = asked
  const ofCertificate = explainCertificate(error, asked)
  if (ofCertificate !== null) return ofCertificate
  // A script's name does not help anybody.
  const [said = ''] = error.message.split(/\.? script: /)
  const advice = advices.find(([says]) => says.test(said))?.[1](setting)
  return advice === undefined ? said : `${said.replace(/\.$/, '')}: ${advice}`
}

function explainCertificate(error: Error, { setting, host, authority }: NamedServer): string | null {
  const code = 'code' in error ? String(error.code) : ''
  const [said = ''] = error.message.split(';')
  if (unknownAuthority.includes(code))
    return authority === null
      ? `${said}: name the authority that signed it in cluster.${setting}_ca`
      : `${said}: the authority in cluster.${setting}_ca did not sign it`
  if (code === 'CERT_HAS_EXPIRED') return `its ${said}: renew it, or correct the clock of this machine`
  if (code === 'CERT_NOT_YET_VALID') return `${said}: correct the clock of this machine`
  if (code !== 'ERR_TLS_CERT_ALTNAME_INVALID') return null
  return `its certificate is for ${namesOf(error)}, and not for ${host}: write cluster.${setting} with the name that it is for`
}

function namesOf(error: object): string {
  const certificate: unknown = 'cert' in error ? error.cert : null
  const names: unknown =
    typeof certificate === 'object' && certificate !== null ? Reflect.get(certificate, 'subjectaltname') : null
  return typeof names === 'string' ? names.replaceAll(/(DNS|IP Address):/g, '') : 'no name'
}
