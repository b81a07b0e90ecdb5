import { describe, expect, it } from 'vitest'
import type { ClusterFace } from '../../src/admin/handlers/context.ts'
import { Secret } from '../../src/core/secrets/secret.ts'
import { StoreReadOnly } from '../../src/store/store-error.ts'
import { refusal, startTestGateway, type TestGateway } from './gateway.ts'

type Member = Awaited<ReturnType<ClusterFace['status']>>['nodes'][number]

const member = (name: string, clockAheadMs: number | null = null): Member => ({
  ...{ name, state: 'present', version: '1.2.3', sequence: 7, heardAt: '2026-03-01T12:00:00.000Z', clockAheadMs },
  draining: false,
})

/** A gateway in a cluster, whose other nodes are played; `calls` has what was asked of it, in order. */
async function startMember({ nodes = [member('gw-a'), member('gw-b')], id = 'clu_1' } = {}) {
  const gateway = await startTestGateway()
  const calls: string[] = []
  const done = (call: string) => void calls.push(call)
  let cluster: string | null = id === '' ? null : id
  const become = (next: string | null) => {
    cluster = next
    return next ?? ''
  }
  const face: Partial<ClusterFace> = {
    ...{ name: 'gw-a', budgets: 'shared', records: 'local', feed: null },
    cluster: () => cluster,
    others: () => [],
    valkey: () => null,
    outbox: () => null,
    refresh: async () => {},
    announce: () => done(`announce ${departure.begun}`),
    status: async () => ({
      ...{ cluster, node: 'gw-a', postgres: 'db:5432/spgw', trouble: null, sequence: 7, pending: 0, nodes },
    }),
    found: async () => become('clu_new'),
    join: async (token) => {
      done(`join ${token.reveal()}`)
      return become('clu_2')
    },
    invite: async () => ({ token: new Secret('sp_join_1'), expiresAt: '2026-03-01T12:10:00.000Z' }),
    leave: async () => {
      done(`leave after ${(await operationsOf(gateway)).join()}`)
      become(null)
    },
    dissolve: async () => {
      become(null)
      return 12
    },
    handBack: async () => done('hand back'),
    remove: async (node, returns) => done(`remove ${node} ${returns}`),
  }
  const departure = {
    begun: false,
    async begin() {
      departure.begun = true
    },
    async undo() {
      departure.begun = false
    },
    running: 0,
    finish: async () => departure.running,
  }
  Object.assign(gateway.parts.runtime, { cluster: face, departure })
  return { gateway, client: gateway.client, calls, departure, nodes }
}

const operationsOf = async ({ store }: TestGateway) =>
  (await store.audit.list({ limit: 10 }))
    .map(({ operation }) => operation)
    .filter((name) => name.startsWith('cluster.'))

describe('a gateway without a cluster', () => {
  it('refuses whatever is done to one, and says which settings it needs', async () => {
    const { client } = await startTestGateway()
    const { status, init, invite, leave, dissolve } = client.cluster
    for (const call of [status, init, invite, leave, dissolve])
      expect(await refusal(call({}))).toMatchObject({
        code: 'refused',
        hint: expect.stringContaining('cluster.postgres, cluster.limits and cluster.records'),
      })
  })
})

describe('a node of a cluster', () => {
  it('is shown with the others, and with whose clocks are apart', async () => {
    const { client, nodes } = await startMember({
      nodes: [member('gw-a'), member('gw-b', 3_600_000), member('gw-c', -5000)],
    })
    const shown = await client.cluster.status({})
    expect(shown).toMatchObject({ cluster: 'clu_1', draining: false, budgets: 'shared', limits: 'local', valkey: null })
    expect(shown.nodes.map(({ name, clock_ahead_ms }) => [name, clock_ahead_ms])).toEqual([
      ...[
        ['gw-a', null],
        ['gw-b', 3_600_000],
        ['gw-c', -5000],
      ],
    ])
    expect(shown.clocks).toMatch(/^gw-b is 3600 s ahead of PostgreSQL, gw-c is 5 s behind PostgreSQL\. /)
    const gone: Member = { ...member('gw-d'), draining: true }
    nodes.splice(1, 2, gone)
    const out = async () => (await client.cluster.status({})).nodes.map(({ draining }) => draining)
    expect(await out()).toEqual([false, true])
    await client.cluster.drain({})
    expect(await out()).toEqual([true, true])
    nodes.splice(1)
    expect((await client.cluster.status({})).clocks).toBeNull()
  })

  it('tells in the audit what was done, and never the token', async () => {
    const { client, gateway } = await startMember({ id: '' })
    expect((await client.cluster.init({})).cluster).toBe('clu_new')
    expect((await client.cluster.invite({})).token).toBe('sp_join_1')
    expect((await client.cluster.join({ token: 'sp_join_2' })).cluster).toBe('clu_2')
    expect(await client.cluster.dissolve({})).toEqual({ cluster: 'clu_2', records: 12 })
    const lines = await client.audit.list({})
    const told = lines.map(({ operation, resource, after }) => [operation, resource?.id, after])
    expect(told.slice(0, 4)).toEqual([
      ['cluster.dissolve', 'clu_2', { records: 12 }],
      ['cluster.join', 'clu_2', { node: 'gw-a' }],
      ['cluster.invite', 'clu_new', { expires_at: '2026-03-01T12:10:00.000Z' }],
      ['cluster.init', 'clu_new', { cluster: 'clu_new' }],
    ])
    expect(JSON.stringify(lines)).not.toContain('sp_join')
    expect(await operationsOf(gateway)).toHaveLength(4)
  })

  it('says that it leaves while the others can still read it', async () => {
    const { client, calls } = await startMember()
    expect(await client.cluster.leave({})).toEqual({ cluster: 'clu_1' })
    expect(calls).toEqual(['leave after cluster.leave'])
    // From one that is no member any more it still goes, with nobody to tell.
    expect(await client.cluster.leave({})).toEqual({ cluster: '' })
    expect(calls.at(-1)).toBe('leave after cluster.leave')
  })

  it('that is drained hands back what it was given, once nothing runs and if it was given anything', async () => {
    const { client, calls, departure, gateway } = await startMember()
    departure.running = 3
    expect(await client.cluster.drain({})).toEqual({ node: 'gw-a', draining: true, running: 3, kept: null })
    expect((await client.cluster.status({})).draining).toBe(true)
    expect(await client.cluster.drain({ undo: true })).toEqual({
      node: 'gw-a',
      draining: false,
      running: 0,
      kept: null,
    })
    // The others know when the command returns, not some seconds later.
    expect(calls.splice(0)).toEqual(['announce true', 'announce false'])
    departure.running = 0
    expect(await client.cluster.drain({})).toEqual({ node: 'gw-a', draining: true, running: 0, kept: null })
    expect(calls.splice(0)).toEqual(['announce true', 'hand back'])
    expect(await operationsOf(gateway)).toEqual(['cluster.drain', 'cluster.drain-undo', 'cluster.drain'])
    await client.cluster.dissolve({})
    await client.cluster.drain({})
    expect(calls).not.toContain('hand back')
  })

  it('that is drained while PostgreSQL is away is out of service, and says what it could not give back', async () => {
    const { client, gateway } = await startMember()
    Object.assign(gateway.parts.runtime.cluster ?? {}, {
      handBack: async () => {
        throw new StoreReadOnly('PostgreSQL cannot be reached: no route')
      },
    })
    expect(await client.cluster.drain({})).toEqual({
      ...{ node: 'gw-a', draining: true, running: 0, kept: 'PostgreSQL cannot be reached: no route' },
    })
  })

  it('is removed with what it was given of budgets, or without', async () => {
    const { client, calls } = await startMember()
    await client.cluster.remove({ node: 'gw-b', budgets: 'returned' })
    await client.cluster.remove({ node: 'gw-c', budgets: 'spent' })
    expect(calls).toEqual(['remove gw-b true', 'remove gw-c false'])
    const lines = await client.audit.list({ operation: 'cluster.remove' })
    expect(lines.map(({ after }) => after)).toEqual([
      { node: 'gw-c', budgets: 'spent' },
      { node: 'gw-b', budgets: 'returned' },
    ])
  })
})

it('says before the machine key is rotated which nodes have to leave, and names none that has left just now', async () => {
  const { client } = await startMember()
  expect(await refusal(client.seal.rotate({}))).toMatchObject({
    code: 'refused',
    hint: expect.stringMatching(/^On each other node \(gw-b\): spgw cluster leave\. Then end the cluster here/),
  })
  const last = await startMember({ nodes: [member('gw-a')] })
  // What was heard some seconds ago still has it.
  const { cluster } = last.gateway.parts.runtime
  if (cluster !== null) cluster.others = () => [{ name: 'gw-b', version: '1.2.3', state: 'present', condition: null }]
  expect(await refusal(last.client.seal.rotate({}))).toMatchObject({
    code: 'refused',
    hint: expect.stringMatching(/^End the cluster here with spgw cluster dissolve, rotate/),
  })
})
