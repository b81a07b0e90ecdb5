import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import type { AuditLine } from '../../../src/store/api.ts'
import { readSnapshot } from '../../../src/store/configuration/snapshot-read.ts'
import type { ReplicaAnswers } from '../../../src/store/replica/replica-types.ts'
import { StoreConflict, StoreMoved, StoreReadOnly } from '../../../src/store/store-error.ts'
import { callTable } from '../../../src/store/tables.ts'
import { now, sampleKey, samplePolicy, sampleProvider, sampleRevision, sampleRoute } from '../support.ts'
import { type MemoryNode, startMemoryCluster } from './memory-cluster.ts'

function line(operation: string): AuditLine {
  const resource = { kind: 'thing', id: operation, name: operation }
  return { actor: 'local owner', surface: 'cli', operation, resource, before: null, after: {} }
}

async function addProject(node: MemoryNode, name: string): Promise<string> {
  const id = newId('prj')
  await node.tables(line('projects.add')).projects.insert({ id, name, createdAt: now })
  return id
}

async function addScope(node: MemoryNode, name: string) {
  const projectId = await addProject(node, name)
  const environmentId = newId('env')
  const environment = { id: environmentId, projectId, name: 'production', defaultProviders: {}, createdAt: now }
  await node.tables(line('environments.add')).environments.insert(environment)
  return { projectId, environmentId }
}

async function verify(node: MemoryNode) {
  const verdict = await callTable(node.store.connection, {
    table: 'audit',
    method: 'verify',
    input: [null],
    audit: null,
  })
  return verdict as { flaw: unknown; lines: number }
}

async function expectEqual(nodes: readonly MemoryNode[]): Promise<void> {
  for (const node of nodes) await node.catchUp()
  const [first, ...others] = nodes
  for (const other of others) expect(other.content()).toEqual(first?.content())
  for (const node of nodes) expect((await verify(node)).flaw).toBeNull()
}

type Step = { node: number; kind: number; one: number; other: number; sleeps: boolean }
const step: fc.Arbitrary<Step> = fc.record({
  node: fc.nat(2),
  kind: fc.nat(11),
  one: fc.nat(5),
  other: fc.nat(5),
  sleeps: fc.boolean(),
})

/** Something that an operator may do, whether it is possible or not. */
async function act(node: MemoryNode, { kind, one, other }: Step): Promise<void> {
  const tables = node.tables(line(`step.${kind}`))
  const db = node.store.connection.db
  const at = <Item>(list: readonly Item[], place: number): Item | undefined => list[place % Math.max(1, list.length)]
  const { projects, environments, providers, routes, policies, keys } = await readSnapshot(db, 0)
  const project = at(projects, one)
  const environment = at(environments, one)
  const provider = at(providers, one)
  const key = at(keys, one)
  if (kind === 0) await tables.projects.insert({ id: newId('prj'), name: `p${one}`, createdAt: now })
  else if (kind === 1 && project) await tables.projects.update(project.id, { name: `p${other}` })
  else if (kind === 2 && project) await tables.projects.remove(project.id)
  else if (kind === 3 && project) {
    const more = { name: `e${other}`, defaultProviders: provider ? { openai: provider.id } : {}, createdAt: now }
    await tables.environments.insert({ id: newId('env'), projectId: project.id, ...more })
  } else if (kind === 4)
    await tables.providers.insert(sampleProvider({ name: `v${one}` }), sampleRevision({ credentials: [] }))
  else if (kind === 5 && provider) {
    const number = provider.activeRevision + 1
    await tables.providers.addRevision(provider.id, sampleRevision({ number, credentials: [] }))
  } else if (kind === 6 && provider) await tables.providers.remove(provider.id)
  else if (kind === 7 && project && provider)
    await tables.routes.insert(sampleRoute(project.id, provider.id, { model: `m${other}` }))
  else if (kind === 8) {
    const route = at(routes, one)
    const targets = providers.slice(0, 1 + (other % 3)).map(({ id }) => ({ ...target, providerId: id }))
    if (route) await tables.routes.update(route.id, { targets })
  } else if (kind === 9 && environment)
    await tables.keys.insert(
      sampleKey({ projectId: environment.projectId, environmentId: environment.id }, { name: `k${other}` }),
    )
  else if (kind === 10 && key) {
    if (other < 2) await tables.keys.update(key.id, { revokedAt: now })
    else if (other < 4)
      await tables.keys.update(key.id, { secrets: [{ hash: newId('key'), lastFour: 'abcd', expiresAt: null }] })
    else await tables.keys.remove(key.id)
  } else if (kind === 11) {
    const policy = at(policies, one)
    const ids = projects.slice(0, other).map(({ id }) => id)
    if (policy) await tables.policies.update(policy.id, { attachedTo: { workspace: false, ids } })
    else await tables.policies.insert(samplePolicy({ name: `q${one}` }))
  }
}

const target = { upstreamModel: null, weight: 1, priority: 0, format: null }

describe('nodes of a cluster', () => {
  it('hold the same after whatever is done on any of them, one after the other and at once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { nodes } = await startMemoryCluster(3)
        const passConflict = (error: unknown) => {
          if (!(error instanceof StoreConflict)) throw error
        }
        const running: Promise<void>[] = []
        for (const each of steps) {
          const node = nodes[each.node]
          if (node === undefined) continue
          const done = act(node, each).catch(passConflict)
          if (each.sleeps) running.push(done)
          else await done
        }
        await Promise.all(running)
        await expectEqual(nodes)
      }),
      { numRuns: process.env.SPGW_TEST_QUICK ? 5 : 10 },
    )
  }, 60_000)

  it('come out equal when two names change places while one sleeps', async () => {
    const { nodes } = await startMemoryCluster(2)
    const [awake, sleeper] = nodes
    if (!awake || !sleeper) throw new Error('two nodes')
    const [one, other] = [await addProject(awake, 'one'), await addProject(awake, 'other')]
    await sleeper.catchUp()
    for (const [id, name] of [
      [one, 'aside'],
      [other, 'one'],
      [one, 'other'],
    ] as const)
      await awake.tables(line('projects.edit')).projects.update(id, { name })
    await expectEqual(nodes)
    expect(await sleeper.tables().projects.find(one)).toMatchObject({ name: 'other' })
  })

  it('refuse a name only where the cluster is, and give it to one of two who want it', async () => {
    const { nodes } = await startMemoryCluster(2)
    const [first, second] = nodes
    if (!first || !second) throw new Error('two nodes')
    const id = await addProject(first, 'wanted')
    await expect(addProject(second, 'wanted')).rejects.toThrow(StoreConflict)
    await first.tables(line('projects.remove')).projects.remove(id)
    // Here it still stands, and there it is free.
    await expect(addProject(second, 'wanted')).resolves.toMatch(/^prj_/)
    await expectEqual(nodes)
  })

  it('keep columns and tables of a newer version, which others change on', async () => {
    const { cluster, nodes } = await startMemoryCluster(2)
    const [first, second] = nodes
    if (!first || !second) throw new Error('two nodes')
    const id = await addProject(first, 'one')
    const key = JSON.stringify([id])
    const newer = [
      { name: 'projects', key, op: 'set' as const, patch: { colour: 'green' } },
      { name: 'colours', key: '[1]', op: 'put' as const, patch: { name: 'green' } },
    ]
    cluster.append(cluster.sequence, newer, 'newer')
    await second.catchUp()
    await second.tables(line('projects.edit')).projects.update(id, { name: 'two' })
    await expectEqual(nodes)
    expect(cluster.rows.get(`projects ${key}`)?.row).toMatchObject({ name: 'two', colour: 'green' })
  })

  it('keep to themselves what each has found, and take their own turn at the numbers of keys', async () => {
    const { nodes } = await startMemoryCluster(2)
    const [first, second] = nodes
    if (!first || !second) throw new Error('two nodes')
    const scope = await addScope(first, 'one')
    const key = sampleKey(scope)
    await first.tables(line('keys.create')).keys.insert(key)
    await second.catchUp()
    const { keysVersion } = await readSnapshot(second.store.connection.db, 0)
    await second.tables().keys.touch({ [key.id]: now })
    await first.tables(line('keys.revoke')).keys.update(key.id, { revokedAt: now })
    await expectEqual(nodes)
    const changed = await readSnapshot(second.store.connection.db, keysVersion)
    expect(changed.keys).toMatchObject([{ id: key.id, revokedAt: now, lastUsedAt: now }])
  })

  it('are founded by one that serves meanwhile: that a key is used is no change, and a new project is one', async () => {
    const { nodes } = await startMemoryCluster(1)
    const [first] = nodes
    if (!first) throw new Error('a node')
    const scope = await addScope(first, 'one')
    const key = sampleKey(scope)
    await first.tables(line('keys.create')).keys.insert(key)
    const { digest } = (await first.replica.answer({ act: 'export' })) as ReplicaAnswers['export']
    await first.tables().keys.touch({ [key.id]: now })
    const state = { cluster: 'clu_2', member: 'node_1', sequence: 1, mark: '1' }
    const enter = () => first.replica.answer({ act: 'enter', state, rows: null, digest })
    await enter()
    await addProject(first, 'another')
    await expect(enter()).rejects.toThrow(StoreMoved)
  })

  it('are read-only without PostgreSQL, but revoke', async () => {
    const { nodes } = await startMemoryCluster(2)
    const [first, second] = nodes
    if (!first || !second) throw new Error('two nodes')
    const key = sampleKey(await addScope(first, 'one'))
    await first.tables(line('keys.create')).keys.insert(key)
    await second.catchUp()
    second.away = true
    await expect(addProject(second, 'two')).rejects.toThrow(StoreReadOnly)
    await second.tables(line('keys.revoke')).keys.update(key.id, { revokedAt: now })
    expect(await second.tables().keys.find(key.id, null, null)).toMatchObject({ revokedAt: now })
    // Whatever others do to the key meanwhile, it stays revoked here, and becomes so everywhere.
    await first.tables(line('keys.edit')).keys.update(key.id, { name: 'renamed' })
    await second.catchUp()
    expect(await second.tables().keys.find(key.id, null, null)).toMatchObject({ revokedAt: now, name: 'renamed' })
    second.away = false
    await second.writer.appendPending()
    await expectEqual(nodes)
    expect(await first.tables().keys.find(key.id, null, null)).toMatchObject({ revokedAt: now, name: 'renamed' })
    const lines = await first.tables().audit.list({ limit: 10, operation: 'keys.revoke' })
    expect(lines).toHaveLength(1)
  })
})
