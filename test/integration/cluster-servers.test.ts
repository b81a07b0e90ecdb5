import { chmodSync, chownSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openClient } from '../../src/cluster/connect.ts'
import { answerers } from '../../src/cluster/questions.ts'
import { Script, Valkey } from '../../src/cluster/valkey.ts'
import {
  describeMeanwhile,
  showClock,
  showEviction,
  showPostgres,
  showRights,
  showServer,
} from '../../src/daemon/doctor/cluster-servers.ts'
import { hasOpenssl, makeCertificate, type TestCertificate } from '../support/certificate.ts'
import { freePort, needsPostgres, PostgresServer, postgresPrograms } from '../support/postgres-server.ts'
import { hasRedis, needsRedis, RedisServer } from '../support/redis-server.ts'

const isPossible = postgresPrograms !== null && hasRedis && hasOpenssl

describe.skipIf(!isPossible)(`servers that speak TLS (${needsPostgres}; ${needsRedis}; needs openssl)`, () => {
  const directory = mkdtempSync(join(tmpdir(), 'spgw-servers-'))
  let certificate: TestCertificate
  let other: TestCertificate
  let postgres: PostgresServer
  let redis: RedisServer
  let redisPort: number
  beforeAll(async () => {
    certificate = makeCertificate(directory, 'localhost')
    other = makeCertificate(directory, 'other')
    postgres = await PostgresServer.start()
    encryptPostgres()
    redisPort = await freePort()
    const { cert, key } = certificate
    redis = await RedisServer.start([
      ...['--tls-port', `${redisPort}`, '--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert],
      ...['--tls-auth-clients', 'no'],
      // As docs/cluster.md has it.
      ...[
        '--user',
        'spgw',
        'on',
        '>secret',
        '~spgw:*',
        '&spgw:*',
        '+@read',
        '+@write',
        '+@scripting',
        '+@pubsub',
        '+info',
        '+time',
        '+ping',
      ],
    ])
  })
  afterAll(async () => {
    postgres?.remove()
    await redis?.remove()
    rmSync(directory, { recursive: true, force: true })
  })

  function encryptPostgres(): void {
    for (const file of ['localhost.pem', 'localhost.key']) {
      const copy = join(postgres.directory, file)
      copyFileSync(join(directory, file), copy)
      chmodSync(copy, 0o600)
      if (process.getuid?.() === 0) chownSync(copy, 65_534, 65_534)
    }
    postgres.query(`alter system set ssl_cert_file = '${join(postgres.directory, 'localhost.pem')}'`)
    postgres.query(`alter system set ssl_key_file = '${join(postgres.directory, 'localhost.key')}'`)
    postgres.query('alter system set ssl = on')
    postgres.stop()
    postgres.start()
  }

  async function connect(host: string, authority: string) {
    const address = { host, port: postgres.port, user: 'spgw', password: null, database: 'postgres', authority }
    return await openClient({ ...address, plain: false }, 4000, () => {})
  }

  it('PostgreSQL is reached encrypted, where it proves who it is, and says what it is', async () => {
    const client = await connect('localhost', certificate.pem)
    const facts = await answerers.server(client, null)
    await client.end()
    expect(facts).toMatchObject({ tls: expect.stringMatching(/^TLSv1/), isReadOnly: false, standbys: 0, aheadMs: 0 })
    const { state, message } = showPostgres('PostgreSQL at db:5432', facts)
    expect([state, message]).toEqual(['ok', expect.stringMatching(/is reached \(\d+\..*, TLSv1\.\d, no standby\)/)])
  })

  it('PostgreSQL keeps a schema that is no cluster of ours', async () => {
    postgres.query('create schema spgw')
    const client = await connect('localhost', certificate.pem)
    const founded = answerers.found(client, { cluster: 'clu_1', member: 'nod_1', name: 'gw-a', token: 't', rows: [] })
    await expect(founded).rejects.toMatchObject({
      message: 'the database has a schema spgw that is not a cluster',
      hint: expect.stringContaining('Drop that there'),
    })
    expect(await answerers.server(client, null)).toMatchObject({ isForeign: true })
    await client.end()
    // Of a user who may not look into it, the same is said.
    postgres.query("create table spgw.things (id int); create role looker login password 'l'")
    const { pem: authority } = certificate
    const address = { host: 'localhost', port: postgres.port, user: 'looker', password: 'l', database: 'postgres' }
    const looker = await openClient({ ...address, authority, plain: false }, 4000, () => {})
    const facts = await answerers.server(looker, null)
    expect(facts.isForeign).toBe(true)
    expect(showRights(facts)).toEqual([])
    await expect(
      answerers.found(looker, { cluster: 'clu_1', member: 'nod_1', name: 'gw-a', token: 't', rows: [] }),
    ).rejects.toMatchObject({ message: 'the database has a schema spgw that is not a cluster' })
    await looker.end()
    postgres.query('drop schema spgw cascade; drop role looker')
  })

  it('PostgreSQL is not believed with a certificate of another authority, or of another host', async () => {
    await expect(connect('localhost', other.pem)).rejects.toThrow(/self-signed certificate/)
    await expect(connect('127.0.0.1', certificate.pem)).rejects.toThrow(/IP: 127\.0\.0\.1 is not in the cert's list/)
  })

  async function open(host: string, authority: string) {
    const first = Promise.withResolvers<string | null>()
    const address = { host, port: redisPort, user: 'spgw', password: 'secret', database: 0, authority, plain: false }
    const valkey = await Valkey.open(address, first.resolve)
    return { valkey, trouble: await first.promise }
  }

  it('Valkey is reached encrypted, by a user who may do no more than is documented', async () => {
    const { valkey, trouble } = await open('localhost', certificate.pem)
    expect(trouble).toBeNull()
    expect(valkey.facts?.product).toMatch(/^(redis|valkey) \d/)
    const write = new Script("return redis.call('set', KEYS[1], ARGV[1])")
    expect(await valkey.evaluate(write, ['spgw:a'], 'b')).toBe('OK')
    await expect(valkey.evaluate(write, ['others:a'], 'b')).rejects.toThrow(/permission|NOPERM/i)
    valkey.close()
  })

  it.each([
    ['of another authority', 'localhost', () => other.pem, /self-signed certificate/],
    ['of another host', '127.0.0.1', () => certificate.pem, /its certificate is for localhost, and not for 127/],
  ])('Valkey is not believed with a certificate %s', async (_, host, authority, words) => {
    const { valkey, trouble } = await open(host, authority())
    expect(trouble).toMatch(words)
    valkey.close()
  })
})

describe('what is said of PostgreSQL', () => {
  const rights: string[] = []
  const facts = {
    version: '15.18',
    tls: 'TLSv1.3',
    isReadOnly: false,
    isForeign: false,
    standbys: 1,
    synchronous: false,
    aheadMs: 0,
    user: 'u',
    rights,
    missing: rights,
  }
  it.each([
    [{}, 'ok', /\(15\.18, TLSv1\.3, 1 standby, asynchronous\)/],
    [{ standbys: 2, synchronous: true, tls: null }, 'ok', /\(15\.18, not encrypted, 2 standbys, synchronous\)/],
    [{ isReadOnly: true }, 'problem', /takes no changes \(default_transaction_read_only\)/],
    [{ isForeign: true }, 'problem', /has a schema spgw that is not a cluster/],
  ])('%j', (more, state, words) => {
    const shown = showPostgres('PostgreSQL at db:5432', { ...facts, ...more })
    expect([shown.state, shown.message]).toEqual([state, expect.stringMatching(words)])
  })

  it('that the clocks are apart', () => {
    expect([...showClock({ aheadMs: 0 }), ...showClock({ aheadMs: -1500 })]).toEqual([])
    const said = [3_600_000, -30_400].flatMap((aheadMs) => showClock({ aheadMs }).map(({ message }) => message))
    expect(said).toEqual([
      "the clock of this machine is 3600 s ahead of PostgreSQL's",
      "the clock of this machine is 30 s behind PostgreSQL's",
    ])
  })

  it('that a node has more rights than it needs', () => {
    expect(showRights(facts)).toMatchObject([{ state: 'ok' }])
    const [shown] = showRights({ ...facts, rights: ['is a superuser', 'may create roles'] })
    expect(shown).toMatchObject({
      state: 'warning',
      message: expect.stringMatching(/^u may do more .* it is a superuser, may create roles$/),
    })
  })

  it('that Valkey drops what it has when its memory is full', () => {
    expect(showEviction('Valkey at v:6379', { product: 'valkey 8', evicts: null })).toEqual([])
    expect(showEviction('Valkey at v:6379', { product: 'valkey 8', evicts: 'allkeys-lru' })).toMatchObject([
      {
        state: 'warning',
        message: expect.stringMatching(/may drop .*allkeys-lru/),
        remedy: expect.stringMatching(/noeviction/),
      },
    ])
  })

  it('that a node has fewer rights than it needs', () => {
    const missing = ['may not use the schema spgw']
    // It is not the rights that are wrong where the schema is somebody else's.
    expect(showRights({ ...facts, missing, isForeign: true })).toEqual([])
    expect(showRights({ ...facts, missing })).toMatchObject([
      { state: 'problem', message: expect.stringMatching(/may do less .* it may not use the schema spgw$/) },
    ])
  })

  it('what a node does until a server is back, by its settings and by whether it serves', () => {
    expect(describeMeanwhile('postgres', 'share', ['postgres'])).toMatch(/^Requests are served/)
    expect(describeMeanwhile('valkey', 'share', ['valkey'])).toMatch(/goes by its part of shared limits/)
    expect(describeMeanwhile('valkey', 'refuse', ['valkey'])).toMatch(/under shared limits are refused/)
    expect(describeMeanwhile('valkey', 'local', ['valkey'])).toMatch(/the whole of shared limits/)
    for (const name of ['postgres', 'valkey'] as const)
      expect(describeMeanwhile(name, 'local', ['postgres', 'valkey', 'isolated'])).toMatch(/^Requests are refused/)
  })

  const refused = 'password authentication failed for user "u"'
  it.each([
    ['ok', null, false, null, /is reached$/, null],
    ['problem', 'connect ECONNREFUSED', false, 'Wait.', /is not reached: connect/, /^Wait/],
    ['problem', 'it is a standby', false, 'Wait.', /db:5432 cannot be used: it is a standby/, /^Wait/],
    [
      'problem',
      'it is version 13',
      false,
      null,
      /db:5432 cannot be used: it is version 13/,
      /^Then run the check again/,
    ],
    [
      'problem',
      'connect ECONNREFUSED',
      false,
      null,
      /is not reached: connect/,
      /^Correct cluster\.postgres, .*authority\.$/,
    ],
    [
      'problem',
      refused,
      false,
      'Wait.',
      /is not reached: password/,
      /^Correct cluster\.postgres, .* restart the gateway/,
    ],
    [
      'warning',
      refused,
      true,
      'Wait.',
      /is not reached from this shell: .*; the gateway that runs reaches it$/,
      /^Correct/,
    ],
  ] as const)('that it is %s: %s', (state, trouble, isReached, meanwhile, message, remedy) => {
    const shown = showServer('PostgreSQL at db:5432', 'postgres', trouble, isReached, meanwhile)
    expect(shown).toMatchObject({
      ...{ state, message: expect.stringMatching(message) },
      remedy: remedy === null ? null : expect.stringMatching(remedy),
    })
  })
})
