import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import { StoreConflict } from '../../src/store/store-error.ts'
import {
  addScope,
  now,
  sampleKey,
  samplePolicy,
  sampleProvider,
  sampleRevision,
  sampleRoute,
  startTestStore,
  storePaths,
  temporaryDirectory,
} from './support.ts'

const event = {
  actor: 'local owner',
  surface: 'cli' as const,
  operation: 'projects.add',
  resource: { kind: 'project', id: 'prj_x', name: 'x' },
  before: null,
  after: { name: 'x' },
}

async function freshStore() {
  return await startTestStore(storePaths(temporaryDirectory()))
}

describe('tables', () => {
  it('keeps workspace, projects and environments, by name and by id', async () => {
    const store = await freshStore()
    expect((await store.workspace.update({ name: 'acme' })).name).toBe('acme')
    const { project, environment } = await addScope(store)
    expect(await store.projects.find('default')).toEqual(project)
    expect(await store.projects.find(project.id)).toEqual(project)
    expect(await store.projects.find('nobody')).toBeNull()
    expect(await store.environments.find(project.id, 'production')).toEqual(environment)
    expect(await store.environments.find('prj_other', environment.id)).toBeNull()
    expect(await store.environments.list(null)).toEqual([environment])
    const renamed = await store.environments.update(environment.id, { name: 'staging' })
    expect(renamed).toEqual({ ...environment, name: 'staging' })
  })

  it('refuses a taken name as StoreConflict across the thread', async () => {
    const store = await freshStore()
    const { project } = await addScope(store)
    const second = store.projects.insert({ id: newId('prj'), name: 'default', createdAt: now })
    await expect(second).rejects.toThrow(StoreConflict)
    await expect(second).rejects.toThrow(`project default already exists (${project.id})`)
  })

  it('keeps provider revisions, one active', async () => {
    const store = await freshStore()
    const { project } = await addScope(store)
    const provider = sampleProvider({ projects: [project.id], tags: { a: 'b' } })
    expect(await store.providers.insert(provider, sampleRevision())).toEqual(provider)
    const second = sampleRevision({ number: 2, credentials: [] })
    const changed = await store.providers.addRevision(provider.id, second)
    expect(changed).toMatchObject({ activeRevision: 2, revision: second })
    await expect(store.providers.addRevision(provider.id, second)).rejects.toThrow(StoreConflict)
    expect(await store.providers.activateRevision(provider.id, 1)).toEqual(provider)
    await expect(store.providers.activateRevision(provider.id, 7)).rejects.toThrow('no revision 7')
    expect(await store.providers.revisions(provider.id)).toEqual([sampleRevision(), second])
    const readiness = { state: 'failing' as const, reason: 'HTTP 500', since: now }
    await store.providers.setReadiness(provider.id, readiness, [{ name: 'm', contextTokens: null, outputTokens: 4 }])
    const found = await store.providers.find('openai')
    expect(found).toMatchObject({ readiness, models: [{ name: 'm', contextTokens: null, outputTokens: 4 }] })
    expect((await store.providers.update(provider.id, { projects: null, active: false })).projects).toBeNull()
    expect(await store.seal.sealed()).toEqual([{ identity: `credential:${provider.id}:cre_1`, sealed: 'sp1.x' }])
  })

  it('names the routes and environments that keep a provider', async () => {
    const store = await freshStore()
    const { project, environment } = await addScope(store)
    const provider = await store.providers.insert(sampleProvider(), sampleRevision())
    const route = await store.routes.insert(sampleRoute(project.id, provider.id, { model: 'b' }))
    await store.routes.insert(sampleRoute(project.id, provider.id, { model: 'a' }))
    await store.environments.update(environment.id, { defaultProviders: { openai: provider.id } })
    const text = 'provider openai is used by routes a, b, the defaults of environment default/production'
    await expect(store.providers.remove(provider.id)).rejects.toThrow(text)
    await store.environments.update(environment.id, { defaultProviders: {} })
    await store.routes.update(route.id, { targets: [] })
    await expect(store.providers.remove(provider.id)).rejects.toThrow('provider openai is used by route a')
    await expect(store.projects.remove(project.id)).rejects.toThrow('project default is used by routes a, b')
    for (const each of await store.routes.list(project.id)) await store.routes.remove(each.id)
    await store.providers.remove(provider.id)
    expect(await store.providers.list()).toEqual([])
  })

  it('holds one route a model and scope', async () => {
    const store = await freshStore()
    const { project, environment } = await addScope(store)
    const provider = await store.providers.insert(sampleProvider(), sampleRevision())
    const everywhere = await store.routes.insert(sampleRoute(project.id, provider.id))
    await expect(store.routes.insert(sampleRoute(project.id, provider.id))).rejects.toThrow(StoreConflict)
    const own = await store.routes.insert(sampleRoute(project.id, provider.id, { environmentId: environment.id }))
    expect(await store.routes.find(project.id, null, 'gpt-4o-mini')).toEqual(everywhere)
    expect(await store.routes.find(project.id, environment.id, 'gpt-4o-mini')).toEqual(own)
    expect(await store.routes.find(project.id, null, own.id)).toEqual(own)
    const change = {
      ...{ enabled: false, strict: true, echoModel: true, sticky: true },
      hedge: { after: 'p95' as const, share: 7 },
      shadow: { providerId: provider.id, upstreamModel: 'gpt-4o' },
    }
    expect(await store.routes.update(own.id, change)).toEqual({ ...own, ...change })
    expect(await store.routes.find(project.id, null, own.id)).toEqual({ ...own, ...change })
    await store.routes.update(own.id, { targets: [] })
    await store.routes.remove(everywhere.id)
    // A shadow target keeps its provider as any other target does.
    await expect(store.providers.remove(provider.id)).rejects.toThrow(own.model)
  })

  it('finds keys by id, name and last four, and frees the name of a revoked one', async () => {
    const store = await freshStore()
    const { project, environment } = await addScope(store)
    const scope = { projectId: project.id, environmentId: environment.id }
    const first = await store.keys.insert(sampleKey(scope))
    for (const text of [first.id, 'ci', 'wxyz']) expect(await store.keys.find(text, null, null)).toEqual(first)
    expect(await store.keys.find('ci', project.id, 'env_other')).toBeNull()
    await expect(store.keys.insert(sampleKey(scope))).rejects.toThrow(`key ci already exists (${first.id})`)
    await store.keys.update(first.id, { revokedAt: now })
    const second = await store.keys.insert(sampleKey(scope))
    expect((await store.keys.find('ci', null, null))?.id).toBe(second.id)
    await expect(store.keys.find('wxyz', null, null)).rejects.toThrow('several keys end in wxyz')
    await expect(store.environments.remove(environment.id)).rejects.toThrow('environment production is used by key ci')
    await store.keys.update(second.id, { revokedAt: now })
    await store.projects.remove(project.id)
    expect(await store.keys.list(null, null)).toEqual([])
  })

  it('moves the last use only forward', async () => {
    const store = await freshStore()
    const { project, environment } = await addScope(store)
    const key = await store.keys.insert(sampleKey({ projectId: project.id, environmentId: environment.id }))
    await store.keys.touch({ [key.id]: '2026-02-01T00:00:00.000Z' })
    await store.keys.touch({ [key.id]: '2026-01-01T00:00:00.000Z' })
    expect((await store.keys.find(key.id, null, null))?.lastUsedAt).toBe('2026-02-01T00:00:00.000Z')
  })

  it('keeps policies with all their rules, and refuses to remove one in use', async () => {
    const store = await freshStore()
    const { project, environment } = await addScope(store)
    const policy = samplePolicy({ attachedTo: { workspace: true, ids: [project.id] } })
    expect(await store.policies.insert(policy)).toEqual(policy)
    expect(await store.policies.find('small')).toEqual(policy)
    const key = sampleKey({ projectId: project.id, environmentId: environment.id }, { policyId: policy.id })
    await store.keys.insert(key)
    await expect(store.policies.remove(policy.id)).rejects.toThrow('policy small is used by key ci')
    await store.keys.update(key.id, { policyId: null })
    expect((await store.policies.update(policy.id, { maxBody: null })).maxBody).toBeNull()
    await store.policies.remove(policy.id)
    expect(await store.policies.list()).toEqual([])
  })

  it('keeps the witness', async () => {
    const store = await freshStore()
    expect(await store.seal.witness()).toBeNull()
    await store.seal.setWitness('sp1.a')
    await store.seal.setWitness('sp1.b')
    expect(await store.seal.witness()).toBe('sp1.b')
  })
})

describe('snapshot', () => {
  it('reads everything with names, and keys by version', async () => {
    const store = await freshStore()
    const { project, environment } = await addScope(store)
    const provider = await store.providers.insert(sampleProvider(), sampleRevision())
    const route = await store.routes.insert(sampleRoute(project.id, provider.id, { environmentId: environment.id }))
    const scope = { projectId: project.id, environmentId: environment.id }
    const old = { hash: 'old', lastFour: 'oooo', expiresAt: null }
    const key = await store.keys.insert(sampleKey(scope, { secrets: [old] }))
    const other = await store.keys.insert(sampleKey(scope, { name: 'other' }))
    const whole = await store.snapshot()
    expect(whole).toMatchObject({
      providers: [provider],
      projects: [project],
      environments: [environment],
      policies: [],
    })
    expect(whole.routes).toEqual([{ ...route, project: 'default', environment: 'production' }])
    expect(whole.keys).toEqual([key, other])

    const fresh = { hash: 'new', lastFour: 'nnnn', expiresAt: null }
    await store.keys.update(key.id, { secrets: [fresh] })
    await store.keys.touch({ [other.id]: now })
    const delta = await store.snapshot(whole.keysVersion)
    expect(delta.keys).toEqual([{ ...key, secrets: [fresh] }])
    expect(delta.removedHashes).toEqual(['old'])

    await store.keys.update(key.id, { secrets: [fresh, old] })
    expect((await store.snapshot(whole.keysVersion)).removedHashes).toEqual([])
    await store.keys.remove(other.id)
    const last = await store.snapshot(delta.keysVersion)
    expect(last.removedHashes).toEqual(other.secrets.map((secret) => secret.hash))
    expect((await store.snapshot(last.keysVersion)).keys).toEqual([])
  })
})

describe('audit', () => {
  it('is committed with the write, or not at all', async () => {
    const store = await freshStore()
    const project = { id: newId('prj'), name: 'x', createdAt: now }
    await store.audited(event).projects.insert(project)
    await expect(store.audited(event).projects.insert({ ...project, id: newId('prj') })).rejects.toThrow(StoreConflict)
    await store.audited(event).projects.list()
    const lines = await store.audit.list({ limit: 10 })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject(event)
  })

  it('is found by operation, noun and resource', async () => {
    const store = await freshStore()
    await store.audited(event).workspace.update({ name: 'a' })
    await store
      .audited({ ...event, operation: 'keys.create', resource: { kind: 'key', id: 'key_1', name: 'ci' } })
      .workspace.update({ name: 'b' })
    const operations = async (filter: object) =>
      (await store.audit.list({ limit: 9, ...filter })).map((line) => line.operation)
    expect(await operations({})).toEqual(['keys.create', 'projects.add'])
    expect(await operations({ operation: 'keys' })).toEqual(['keys.create'])
    expect(await operations({ operation: 'key' })).toEqual([])
    expect(await operations({ operation: 'projects.add' })).toEqual(['projects.add'])
    expect(await operations({ resource: 'ci' })).toEqual(['keys.create'])
    expect(await operations({ until: '2020-01-01T00:00:00Z' })).toEqual([])
  })
})
