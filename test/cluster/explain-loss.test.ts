import { expect, it } from 'vitest'
import { describeLoss, PostgresAway } from '../../src/cluster/connect.ts'
import { explainLoss } from '../../src/cluster/explain-loss.ts'

const asked = { host: 'db.example.com', authority: null, setting: 'postgres' } as const
const failure = (message: string, more: object = {}) => Object.assign(new Error(message), more)
const unverified = failure(
  'unable to verify the first certificate; if the root CA is installed locally, try running Node.js with --use-system-ca',
  { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' },
)

it('says of a certificate that is not believed what to do, and names no option of Node', () => {
  expect(explainLoss(unverified, asked)).toBe(
    'unable to verify the first certificate: name the authority that signed it in cluster.postgres_ca',
  )
  const chain = failure('self-signed certificate in certificate chain', { code: 'SELF_SIGNED_CERT_IN_CHAIN' })
  expect(explainLoss(chain, { ...asked, setting: 'valkey', authority: 'PEM' })).toBe(
    'self-signed certificate in certificate chain: the authority in cluster.valkey_ca did not sign it',
  )
  expect(explainLoss(failure('certificate has expired', { code: 'CERT_HAS_EXPIRED' }), asked)).toBe(
    'its certificate has expired: renew it, or correct the clock of this machine',
  )
  const early = failure('certificate is not yet valid', { code: 'CERT_NOT_YET_VALID' })
  expect(explainLoss(early, asked)).toBe('certificate is not yet valid: correct the clock of this machine')
})

it.each([
  [{ subjectaltname: 'DNS:other.example, IP Address:10.0.0.1' }, 'other.example, 10.0.0.1'],
  [{}, 'no name'],
])('says for which names the certificate of another host is: %j', (cert, names) => {
  const message = "Hostname/IP does not match certificate's altnames: IP: 10.0.0.2 is not in the cert's list: "
  expect(explainLoss(failure(message, { code: 'ERR_TLS_CERT_ALTNAME_INVALID', cert }), asked)).toBe(
    `its certificate is for ${names}, and not for db.example.com: write cluster.postgres with the name that it is for`,
  )
})

it.each([
  ['password authentication failed for user "spgw"', /: correct cluster\.postgres_password, or the user/],
  ['database "spgw" does not exist', /: create it, or correct cluster\.postgres$/],
  ['permission denied for table records', /: let the user in cluster\.postgres read and write there .*spgw doctor/],
  ['permission denied for database spgw', /: a cluster is founded by a user who may create a schema/],
  ['no pg_hba.conf entry for host "10.0.0.2", user "spgw", database "spgw", no encryption', /: let this machine in/],
  ['sorry, too many clients already', /: raise max_connections/],
  ['too many connections for role "spgw"', /: raise its connection limit/],
  ['too many connections for database "spgw"', /: raise its connection limit/],
  [
    'unsupported startup parameter: lock_timeout',
    /: connect past the pooler.* ignore_startup_parameters = lock_timeout/,
  ],
  ['The server does not support SSL connections', /: set ssl = on there/],
  ['getaddrinfo ENOTFOUND db.example.com', /: correct the name in cluster\.postgres/],
  ['connect ECONNREFUSED 10.0.0.1:5432', /5432$/],
])('keeps what a server says, and adds what to do: %s', (message, words) => {
  const said = explainLoss(failure(message), asked)
  expect(said.startsWith(message)).toBe(true)
  expect(said).toMatch(words)
})

it('says what Valkey says without the name of a script', () => {
  const said = (message: string) => explainLoss(failure(message), { ...asked, setting: 'valkey' })
  expect(said("OOM command not allowed when used memory > 'maxmemory'. script: 656c, on @user_script:33.")).toBe(
    "OOM command not allowed when used memory > 'maxmemory': raise maxmemory there",
  )
  expect(said('NOAUTH Authentication required.')).toBe('NOAUTH Authentication required: set cluster.valkey_password')
  expect(said('WRONGPASS invalid username-password pair or user is disabled.')).toContain(
    ': correct cluster.valkey_password, or the user in cluster.valkey',
  )
})

it('tells of all addresses of a name what the first says', () => {
  expect(explainLoss(new AggregateError([failure('connect ECONNREFUSED ::1:5432')]), asked)).toBe(
    'connect ECONNREFUSED ::1:5432',
  )
})

it('says once what to do, however many have passed it on', () => {
  const address = {
    host: 'db',
    port: 5432,
    user: 'spgw',
    password: null,
    database: 'spgw',
    authority: null,
    plain: true,
  }
  const said = describeLoss(failure('sorry, too many clients already'), address)
  expect(said).toMatch(/: raise max_connections/)
  expect(describeLoss(new PostgresAway(said), address)).toBe(said)
})
