import { describe, expect, it } from 'vitest'
import { makeDoctorCommand } from '../../cli/doctor/command.ts'
import { listDegraded } from '../../cli/doctor/gateway-checks.ts'
import { GatewayNotRunning } from '../../src/admin/client-fault.ts'
import { type Diagnostic, ok } from '../../src/core/diagnostic.ts'
import { sampleNow } from './fake-io.ts'
import { type RunOptions, runLine } from './run-line.ts'

const status = {
  version: '0.1.0',
  process_id: 7,
  gateway_url: 'http://127.0.0.1:8787',
  degraded: [] as object[],
  entries_lost: 0,
  long_turns: [],
}
const provider = { name: 'openai', active: true, state: 'ready', state_reason: null }
const route = { model: 'gpt', project: 'default', enabled: true, targets: [{ provider: 'openai' }] }
const key = { name: 'ci', state: 'active', expires_at: null }

interface Scene {
  status?: object
  providers?: object[]
  routes?: object[]
  keys?: object[]
  own?: Diagnostic[]
}

function examine(scene: Scene, argv: readonly string[] = [], more: RunOptions = {}) {
  const asked: unknown[] = []
  const doctor = makeDoctorCommand({
    version: '0.1.0',
    locate: async (dataDir) => dataDir ?? '/found',
    checkMachine: async (examined) => {
      asked.push(examined)
      return scene.own ?? [ok('disk', '77 GB free')]
    },
  })
  const gateway = {
    status: () => scene.status ?? status,
    'providers.list': () => scene.providers ?? [provider],
    'routes.list': () => scene.routes ?? [route],
    'keys.list': () => scene.keys ?? [key],
  }
  return runLine(['doctor', ...argv], { local: [doctor], gateway, ...more }).then((ran) => ({ ...ran, asked }))
}

describe('doctor', () => {
  it('ends with 0 when all is well, and looks where the other commands would', async () => {
    const { status: code, io, asked, connected } = await examine({})
    expect([code, io.err()]).toEqual([0, 'No problems found.\n'])
    expect(io.out()).toContain('✓ ok       disk       77 GB free\n')
    expect(asked).toEqual([expect.objectContaining({ dataDirectory: '/found', processId: 7, file: null })])
    expect(connected).toEqual([{ dataDir: '/found', waitMs: 0, remote: null }])
  })

  it.each<[string, Scene, string, number]>([
    [
      'a thread that was blocked lately',
      {
        status: {
          ...status,
          long_turns: [
            {
              thread: 'store',
              longest_ms: 15_000,
              last_at: new Date(sampleNow - 60_000).toISOString(),
              last_work: 'x',
            },
            { thread: 'data plane 1', longest_ms: 15_000, last_at: '2020-01-01T00:00:00Z', last_work: null },
            { thread: 'control plane', longest_ms: 700, last_at: new Date(sampleNow).toISOString(), last_work: null },
          ],
        },
      },
      'the store was blocked for up to 15.0 s (x)',
      0,
    ],
    [
      'a failing provider',
      { providers: [{ ...provider, state: 'failing', state_reason: 'credential rejected' }] },
      'providers edit openai --credential-stdin',
      1,
    ],
    [
      'a provider nobody checked',
      { providers: [{ ...provider, state: 'unchecked' }] },
      'spgw providers check openai',
      0,
    ],
    [
      'a provider that recovers',
      { providers: [{ ...provider, state: 'recovering', state_reason: '5 calls failed' }] },
      'openai is recovering: 5 calls failed',
      0,
    ],
    [
      'a provider that is ready and often fails',
      { providers: [{ ...provider, last_hour: { tried: 40, failed: 20 } }] },
      'openai is ready; 20 of 40 attempts failed in the last hour',
      0,
    ],
    [
      'what a failing provider came to',
      {
        providers: [
          { ...provider, state: 'failing', state_reason: 'could not be reached', last_hour: { tried: 7, failed: 7 } },
        ],
      },
      'openai is failing: could not be reached; 7 of 7 attempts failed in the last hour',
      1,
    ],
    [
      'a target that fails, of a provider that is ready',
      { providers: [{ ...provider, targets: [{ upstream_model: 'm', state: 'failing', state_reason: '529' }] }] },
      'openai/m is failing: 529',
      0,
    ],
    ['a route whose provider is off', { providers: [{ ...provider, active: false }] }, 'spgw routes explain gpt', 1],
    [
      'a key about to expire',
      { keys: [{ ...key, expires_at: new Date(sampleNow + 86_400_000).toISOString() }] },
      'ci expires in a day',
      0,
    ],
    [
      'a key that has expired',
      { keys: [{ ...key, state: 'expired', expires_at: '2026-01-01T00:00:00Z' }] },
      'ci has expired',
      0,
    ],
    [
      'a sick part',
      { status: { ...status, degraded: [{ part: 'store', since: 'noon', reason: 'locked' }] } },
      'degraded since noon: locked',
      1,
    ],
    [
      'a database that does not shrink',
      { status: { ...status, database_bytes: 200e6, database_limit_bytes: 20e6 } },
      '→ Old records are being removed',
      0,
    ],
    [
      'a database whose log alone is beyond the limit, as fine',
      { status: { ...status, database_bytes: 80e6, database_limit_bytes: 20e6 } },
      '✓ ok       max_disk   database 80 MB of at most 20 MB',
      0,
    ],
    ['lost entries', { status: { ...status, entries_lost: 3 } }, '3 journal entries lost', 0],
    ['another version', { status: { ...status, version: '0.2.0' } }, 'Restart the gateway', 0],
    [
      'what the machine says',
      { own: [{ check: 'disk', state: 'problem', message: 'full', remedy: 'Free some.' }] },
      '→ Free some.',
      1,
    ],
  ])('tells of %s, and what to do', async (_, scene, words, code) => {
    const ran = await examine(scene)
    expect(ran.io.out()).toContain(words)
    expect(ran.status).toBe(code)
  })

  it.each([
    ['another process has locked the database (SQLITE_BUSY)', 'fuser spgw.db'],
    ['the disk is full (ENOSPC)', 'Free some disk space'],
    ['no permission to write to the journal directory (EACCES)', 'chown'],
    ['the journal directory was deleted; it was created again, with what was in it', 'No action is needed'],
    ['the database file was deleted; its contents were saved to spgw.db.rescued-1', 'move the rescued file'],
    ['this node was removed from the cluster, and hears of no change', 'Stop this gateway. To let it continue alone'],
    ['this gateway has not joined its cluster yet, and has no keys', 'No requests are served until it has joined'],
    ['requests are refused: PostgreSQL not reached for longer than …', 'Let this machine reach PostgreSQL or Valkey'],
    ['PostgreSQL cannot be used: it is a standby', 'read-only until it takes changes again'],
    ['Valkey cannot be used: it does not answer', 'To see what shared limits let pass meanwhile: spgw cluster status'],
    ['3 records wait for PostgreSQL, …: cannot execute INSERT in a read-only transaction', 'Nothing is lost'],
    ['something new', 'log for details'],
  ])('tells what to do when %s', async (reason, remedy) => {
    const ran = await examine({ status: { ...status, degraded: [{ part: 'store', since: 'noon', reason }] } })
    expect(ran.io.out()).toContain(remedy)
  })

  it('says of Valkey that requests under shared limits are refused without it, where the settings want that', async () => {
    const degraded = [{ part: 'valkey', since: 'noon', reason: 'Valkey cannot be used: it does not answer' }]
    const said = async (meanwhile: string) => {
      const cluster = { id: 'clu_1', valkey: { meanwhile } }
      return (await examine({ status: { ...status, degraded, cluster } })).io.out()
    }
    expect(await said('refuse')).toContain('Requests under shared limits are refused until it is back')
    expect(await said('refuse')).not.toContain('Requests are served')
    expect(await said('share')).toContain('Requests are served. To see what shared limits let pass meanwhile')
  })

  it('says of no part that requests are served while the node refuses them', async () => {
    const parts = [
      ['postgres', 'PostgreSQL cannot be reached: connect ECONNREFUSED'],
      ['valkey', 'Valkey cannot be used: it does not answer'],
      ['isolated', 'requests are refused: PostgreSQL and Valkey not reached for longer than cluster.isolation_limit'],
    ]
    const degraded = parts.map(([part, reason]) => ({ part, since: 'noon', reason }))
    const { io } = await examine({ status: { ...status, degraded } })
    expect(io.out()).not.toMatch(/are (still )?served/)
    expect(io.out().match(/Requests are refused, as the part isolated says/g)).toHaveLength(2)
    expect(io.out()).toContain('Let this machine reach PostgreSQL or Valkey')
  })

  it('tells that no gateway runs, or that one does not answer, and goes on', async () => {
    const failing = (error: Error) => ({ gateway: { status: () => Promise.reject(error) } })
    const idle = await examine({}, [], failing(new GatewayNotRunning('/found', null)))
    expect([idle.status, idle.io.err()]).toEqual([0, '1 warning.\n'])
    expect(idle.io.out()).toMatch(/Start it: spgw serve$/m)
    const elsewhere = await examine({}, ['--data-dir', '/mnt/data'], failing(new GatewayNotRunning('/mnt/data', null)))
    expect(elsewhere.io.out()).toContain('Start it: spgw serve --data-dir /mnt/data\n')
    const silent = await examine({}, [], failing(new Error('The operation was aborted due to timeout')))
    expect([silent.status, silent.io.err()]).toEqual([1, '1 problem.\n'])
    expect(silent.io.out()).toContain('77 GB free')
  })

  it('is one document for programs', async () => {
    const { io } = await examine({}, ['--json'])
    expect(JSON.parse(io.out())[0]).toEqual({ check: 'disk', state: 'ok', message: '77 GB free', remedy: null })
    expect(io.err()).toBe('')
  })

  it('is for this machine only', async () => {
    const { status: code, io } = await examine({}, ['--remote', 'https://gateway.example.com'])
    expect([code, io.err()]).toEqual([2, expect.stringContaining('works on this machine only')])
  })
})

it('takes no gateway for one that reaches the servers of a cluster that it has not joined', () => {
  const degraded = [{ part: 'store' }]
  const listed = [null, { id: 'clu_1' }, { id: null }].map((cluster) => listDegraded({ degraded, cluster }))
  expect(listed).toEqual([['store'], ['store'], ['store', 'postgres', 'valkey']])
  expect(listDegraded({ degraded })).toEqual(['store'])
})
