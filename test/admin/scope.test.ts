import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type ListedOperation, listOperations } from '../../src/admin/contract/operations.ts'
import { mayCall, type RoleGrant, type RoleName } from '../../src/admin/contract/operators/roles.ts'
import type { RuntimeStatus } from '../../src/admin/handlers/context.ts'
import { newId } from '../../src/core/ids.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { JournalWriter } from '../support/journal-writer.ts'
import { sampleRecord } from '../support/sample-record.ts'
import { callAs } from './call-as.ts'
import { refusal, startTestGateway } from './gateway.ts'
import { nowhere, type ScopeStage, setScopeStage } from './scope-stage.ts'

/** Which thing a field of an input names; of `name` and `id` it is the operation's noun that says so. */
function kindOf(field: string, noun: string): string | null {
  const nouns: Record<string, string> = {
    projects: 'project',
    environments: 'environment',
    providers: 'provider',
    policies: 'policy',
    operators: 'operator',
    tokens: 'token',
    requests: 'request',
    objects: 'object',
    audit: 'line',
  }
  if (field === 'name' || field === 'id') return nouns[noun] ?? null
  if (field === 'before') return nouns[noun] ?? null
  if (field === 'targets') return 'provider'
  if (field === 'resource') return 'key'
  const singular = field.replace(/s$/, '')
  return ['project', 'environment', 'provider', 'key', 'model', 'policy', 'operator'].includes(singular)
    ? singular
    : null
}

/** What is made gets a name of its own each time. */
let counter = 0

type Words = (kind: string) => string

/** An input that names hidden things wherever it can; what is new gets a name that is free. */
function makeInput({ input, path }: ListedOperation, words: Words, scope: 'hidden' | 'own'): Record<string, unknown> {
  const [noun = ''] = path
  const makesNew = ['add', 'create'].includes(path.at(-1) ?? '') && path.length === 2
  const made: Record<string, unknown> = {}
  for (const [field, schema] of Object.entries(input.shape)) {
    const kind = kindOf(field, noun)
    if (makesNew && field === 'name') made[field] = `fresh-${counter++}`
    else if (makesNew && field === 'model') made[field] = `fresh-${counter++}`
    else if (field === 'attach') made[field] = [`project:${words('project')}`]
    else if (field === 'defaultProviders') made[field] = { openai: words('provider') }
    else if (scope === 'own' && (field === 'project' || field === 'environment')) continue
    else if (kind !== null) made[field] = isList(schema as z.ZodType) ? [words(kind)] : words(kind)
    else if (!(schema as z.ZodType).safeParse(undefined).success) made[field] = anyValue(schema as z.ZodType)
  }
  // One or the other.
  if (path.join('.') === 'sessions.revoke') delete made.id
  if ('targets' in made && 'provider' in made) delete made.targets
  return made
}

function isList(schema: z.ZodType): boolean {
  const inner = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault ? schema.unwrap() : schema
  return inner instanceof z.ZodArray
}

function anyValue(schema: z.ZodType): unknown {
  if (schema instanceof z.ZodEnum) return schema.options[0]
  return [1, true, 'x', ['x'], {}].find((value) => schema.safeParse(value).success)
}

/** Everything that an operation tells, its stream included. */
async function tellAll(stage: ScopeStage, grants: readonly RoleGrant[], name: string, input: object): Promise<string> {
  const closing = new AbortController()
  const output = await callAs(stage.gateway.parts, grants, name, input, closing.signal)
  if (typeof output !== 'object' || output === null || !(Symbol.asyncIterator in output))
    return JSON.stringify(output) ?? ''
  const told: string[] = []
  const timer = setInterval(() => {
    stage.gateway.settle(stage.records.hidden)
    closing.abort()
  }, 20)
  for await (const event of output as AsyncIterable<object>) {
    const { base64 } = event as { base64?: string }
    told.push(base64 === undefined ? JSON.stringify(event) : Buffer.from(base64, 'base64').toString())
  }
  clearInterval(timer)
  return told.join('\n')
}

const ownGrants = (stage: ScopeStage, role: RoleName): RoleGrant[] => [{ project: stage.own.project, role }]

/** The texts of an input, the longest first. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value, value.replace(/^project:/, '')]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value)
    .flatMap(textsOf)
    .sort((one, other) => other.length - one.length)
}

interface Trial {
  operation: ListedOperation
  role: RoleName
  hidden: object
  /** The same, with what is nobody's in place of what is another's. */
  absent: object
}

function* listTrials(stage: ScopeStage): Generator<Trial> {
  for (const operation of listOperations())
    for (const role of ['viewer', 'admin', 'owner'] as const)
      for (const by of ['names', 'ids'] as const)
        for (const scope of ['hidden', 'own'] as const) {
          const hidden = makeInput(operation, (kind) => stage[by][kind] ?? '', scope)
          const isNamed = (kind: string) => by === 'names' && stage.names[kind] !== stage.ids[kind]
          const absent = makeInput(operation, (kind) => (isNamed(kind) ? `nowhere-${kind}` : nowhere(kind)), scope)
          yield { operation, role, hidden, absent }
        }
}

describe('to whoever was given one project', () => {
  it('no operation tells or changes anything of another, nor tells that there is one', async () => {
    const stage = await setScopeStage()
    const before = await hiddenState(stage)
    const wrong: string[] = []
    for (const { operation, role, hidden, absent } of listTrials(stage)) {
      const { name, meta } = operation
      const grants = ownGrants(stage, role)
      const outcome = await outcomeOf(stage, grants, name, hidden)
      const expected = mayCall(grants, meta) ? (await outcomeOf(stage, grants, name, absent)).code : 'refused'
      const call = `${name} as ${role} with ${JSON.stringify(hidden)}`
      if (outcome.leaks.length > 0) wrong.push(`${call} tells ${outcome.leaks}: ${outcome.told}`)
      if (outcome.code !== expected)
        wrong.push(`${call} ends with ${outcome.code}, and not with ${expected}: ${outcome.told}`)
    }
    expect(wrong).toEqual([])
    expect(await hiddenState(stage)).toEqual(before)
  })

  it('shows what is of his, and of what all share the name', async () => {
    const { gateway, own } = await setScopeStage()
    const ask = async (operation: string, input: object = {}, role: RoleName = 'viewer') =>
      (await callAs(gateway.parts, [{ project: own.project, role }], operation, input)) as Record<string, unknown>[]
    const names = async (operation: string, input?: object) =>
      (await ask(operation, input)).map((row) => row.name ?? row.model)
    expect(await names('projects.list')).toEqual(['default'])
    expect(await names('environments.list', { all: true })).toEqual(['production'])
    expect(await names('routes.list', { all: true })).toEqual(['own-model'])
    expect(await names('keys.list', { all: true })).toEqual(['own-key'])
    expect(await names('providers.list')).toEqual(['shared'])
    expect((await ask('objects.list', { all: true })).map(({ id }) => id)).toEqual(['own-file'])
    expect(await ask('providers.show', { name: 'shared' })).toMatchObject({
      kind: 'openai',
      state: 'ready',
      models: [{ name: 'gpt-4o-mini' }],
      projects: ['default'],
      base_url: null,
      headers: {},
      tags: {},
      credentials: [],
      routes: 1,
      last_hour: { requests: 1 },
    })
    expect(await ask('policies.list')).toMatchObject([
      { name: 'both', attached_to: ['project:default'] },
      { name: 'own-policy', attached_to: ['project:default'] },
    ])
    expect(await ask('requests.list')).toMatchObject([{ project: 'default', routing_signals: [] }])
    expect(await ask('requests.stats')).toMatchObject([{ requests: 1, input: 10 }])
    expect(await ask('status')).toMatchObject({ routes: 1, keys: 1, in_flight: null, requests_since_start: null })
    const lines = await ask('audit.list', {}, 'admin')
    expect(lines.map(({ operation }) => operation)).toEqual([
      'policies.add',
      'objects.adopt',
      'keys.create',
      'routes.add',
    ])
  })

  it('tells how the gateway is, and of its figures what is his alone', async () => {
    const { gateway, own } = await setScopeStage()
    const { runtime } = gateway.parts
    const [lastAt, outcomes] = ['2026-11-29T12:00:00Z', { exported: 5, rejected: 1, overflow: 2, removed: 3 }]
    const now: RuntimeStatus = {
      ...runtime.status(),
      store: {
        ...{
          degraded: null,
          databaseBytes: 1,
          removalHeldUntil: null,
          databaseMostBytes: 2,
          journalBytes: 3,
          diskFreeBytes: 4,
        },
        ...{ schemaVersion: '7', setAside: ['torn'], storedAt: lastAt },
        cache: { answers: 0, bytes: 0, hits: 0, misses: 0 },
      },
      longTurns: [{ thread: 'main', count: 2, longestMs: 900, lastAt, lastWork: 'GET /v1/secret' }],
      traces: { endpoint: 'http://a.example', pending: 4, outcomes, retries: 0, trouble: null },
    }
    const parts = { ...gateway.parts, runtime: { ...runtime, status: () => now } }
    const ask = (project: string | null) => callAs(parts, [{ project, role: 'viewer' }], 'status')
    const well = { degraded: [], schema_version: '7', records_stored_at: lastAt, set_aside: ['torn'] }
    expect(await ask(null)).toMatchObject({
      ...well,
      ...{ in_flight: 0, held_bytes: 0, requests_since_start: 7, traffic: { requests_per_second: 1.5 }, keys: 2 },
      ...{ database_bytes: 1, database_limit_bytes: 2, journal_bytes: 3, disk_free_bytes: 4 },
      traces: { exported: 5, dropped: 6, pending: 4 },
      long_turns: [{ count: 2, longest_ms: 900, last_work: 'GET /v1/secret' }],
      providers: { ready: 2, failing: 0, recovering: 0, unchecked: 0, inactive: 0 },
    })
    expect(await ask(own.project)).toMatchObject({
      ...well,
      ...{ in_flight: null, held_bytes: null, requests_since_start: null, traffic: null, keys: 1 },
      ...{ database_bytes: null, database_limit_bytes: null, journal_bytes: null, disk_free_bytes: null },
      traces: null,
      long_turns: [{ count: 2, longest_ms: 900, last_work: null }],
      providers: { ready: 1, failing: 0, recovering: 0, unchecked: 0, inactive: 0 },
    })
  })

  it('lets an admin change it, where all of it is his', async () => {
    const { gateway, own } = await setScopeStage()
    const ask = (operation: string, input: object) =>
      callAs(gateway.parts, [{ project: own.project, role: 'admin' }], operation, input)
    await ask('routes.edit', { model: 'own-model', retries: 3 })
    await ask('keys.revoke', { key: 'own-key' })
    await ask('environments.add', { name: 'staging' })
    await ask('policies.edit', { name: 'own-policy', denyModels: ['o1'] })
    for (const [operation, input] of [
      ['policies.edit', { name: 'both', denyModels: ['o1'] }],
      ['policies.remove', { name: 'both' }],
      ['policies.edit', { name: 'own-policy', attach: ['workspace'] }],
      ['policies.edit', { name: 'own-policy', clear: ['attach'] }],
      ['policies.add', { name: 'loose' }],
      ['environments.remove', { name: 'staging' }],
      ['projects.add', { name: 'mine' }],
    ] as const)
      expect(await refusal(ask(operation, input)), operation).toMatchObject({ code: 'refused' })
    const seer: RoleGrant[] = [
      { project: null, role: 'viewer' },
      { project: own.project, role: 'admin' },
    ]
    const mixed = (operation: string, input: object) => callAs(gateway.parts, seer, operation, input)
    await mixed('routes.disable', { model: 'own-model' })
    const elsewhere = { project: 'hidden-project', environment: 'hidden-env' }
    expect(await mixed('routes.show', { model: 'hidden-model', ...elsewhere })).toMatchObject({ enabled: true })
    expect(await refusal(mixed('routes.disable', { model: 'hidden-model', ...elsewhere }))).toMatchObject({
      code: 'refused',
      message: 'routes.disable needs the role admin for this project, and you do not have it.',
    })
  })

  it('keeps the records of a name that was given up: no admin of a project takes a name', async () => {
    const stage = await setScopeStage()
    const { client } = stage.gateway
    const seen = () => callAs(stage.gateway.parts, ownGrants(stage, 'viewer'), 'requests.list')
    await client.projects.edit({ name: 'hidden-project', rename: 'moved' })
    const rename = { name: 'default', rename: 'hidden-project' }
    for (const role of ['admin', 'owner'] as const)
      expect(await refusal(callAs(stage.gateway.parts, ownGrants(stage, role), 'projects.edit', rename))).toMatchObject(
        {
          code: 'refused',
          message: 'projects.edit needs the role admin for the workspace, and you do not have it.',
        },
      )
    expect(await seen()).toMatchObject([{ project: 'default' }])
  })

  it('sees its own records whatever it was called, and none of whoever had its name before', async () => {
    const stage = await setScopeStage()
    const { client, parts, store, settle, tailing } = stage.gateway
    const grants = ownGrants(stage, 'viewer')
    const seen = async () => (await callAs(parts, grants, 'requests.list')) as { id: string }[]
    await client.projects.edit({ name: 'hidden-project', rename: 'moved' })
    await client.projects.edit({ name: 'default', rename: 'hidden-project' })
    expect((await seen()).map(({ id }) => id)).toEqual([stage.records.own.id])
    const show = (record: RequestRecord) => callAs(parts, grants, 'requests.show', { id: record.id })
    expect(await show(stage.records.own)).toMatchObject({ project: 'default' })
    expect(await refusal(show(stage.records.hidden))).toMatchObject({ code: 'not_found' })
    const sum = await callAs(parts, grants, 'requests.stats', { by: 'total' })
    expect(sum).toMatchObject([{ requests: 1, input: stage.records.own.tokens?.input }])

    const late = { ...stage.records.hidden, id: newId('req') }
    const fresh = { ...late, id: newId('req'), time: new Date().toISOString() }
    const closing = new AbortController()
    const rows = (await callAs(parts, grants, 'requests.tail', {}, closing.signal)) as AsyncIterable<object>
    const next = rows[Symbol.asyncIterator]().next()
    await expect.poll(tailing).toBe(1)
    for (const record of [late, fresh]) settle(record)
    expect((await next).value).toMatchObject({ id: fresh.id })
    closing.abort()
    expect(await store.projects.names()).toHaveLength(4)
  })

  it('that takes the name of one that is gone gets none of its records', async () => {
    const { client, parts, store, databasePath } = await startTestGateway()
    const { id } = await client.projects.add({ name: 'alpha' })
    const journal = new JournalWriter(join(dirname(databasePath), 'journal'), { boot: 'live', thread: 0, sequence: 0 })
    const [before, after] = [new Date(Date.now() - 60_000), new Date(Date.now() + 60_000)].map((time) =>
      sampleRecord({ project: 'alpha', id: newId('req', time.getTime()), time: time.toISOString() }),
    )
    if (before === undefined || after === undefined) throw new Error('there are no records')
    for (const record of [before, after]) journal.write({ kind: 'settled', record })
    await store.ingest()
    await client.projects.remove({ name: 'alpha' })
    const next = await client.projects.add({ name: 'alpha' })
    const list = async (project: string) =>
      ((await callAs(parts, [{ project, role: 'viewer' }], 'requests.list')) as { id: string }[]).map((one) => one.id)
    expect(await list(next.id)).toEqual([after.id])
    expect(await list(id)).toEqual([before.id])
    expect((await client.requests.list({ project: 'alpha' })).map((one) => one.id)).toEqual([after.id, before.id])
  })

  it('pushes what happens in it alone', async () => {
    const stage = await setScopeStage()
    const { gateway, records } = stage
    const closing = new AbortController()
    const rows = (await callAs(
      gateway.parts,
      ownGrants(stage, 'viewer'),
      'requests.tail',
      {},
      closing.signal,
    )) as AsyncIterable<object>
    const next = rows[Symbol.asyncIterator]().next()
    await expect.poll(() => gateway.tailing()).toBe(1)
    gateway.settle(records.hidden)
    gateway.settle(records.own)
    expect((await next).value).toMatchObject({ id: records.own.id })
    closing.abort()
  })
})

/** The code of the refusal, or `done`, and what was told that the caller had not said himself. */
async function outcomeOf(stage: ScopeStage, grants: readonly RoleGrant[], name: string, input: object) {
  const fault: { code: string; told: string } = await tellAll(stage, grants, name, input).then(
    (told) => ({ code: 'done', told }),
    async (error: unknown) => {
      const { code, message, hint } = await refusal(Promise.reject(error))
      return { code, told: `${message} ${hint}` }
    },
  )
  let told = fault.told
  for (const text of textsOf(input)) told = told.replaceAll(text, '')
  const secrets = [...Object.values(stage.names), ...Object.values(stage.ids), 'hidden', '987654', '192.0.2.99']
  return { code: fault.code, told: fault.told.slice(0, 300), leaks: secrets.filter((secret) => told.includes(secret)) }
}

async function hiddenState({ gateway: { store }, ids }: ScopeStage): Promise<unknown> {
  const { project = '' } = ids
  return {
    projects: await store.projects.find(project),
    environments: await store.environments.list(project),
    routes: await store.routes.list(project),
    keys: await store.keys.list(project, null),
    objects: await store.objects.list({ projects: [project], limit: 10 }),
    policies: (await store.policies.list()).filter(({ name }) => !name.startsWith('fresh-') && name !== 'own-policy'),
    providers: await store.providers.list(),
    operators: await store.operators.list(),
    tokens: await store.tokens.list(),
    workspace: await store.workspace.get(),
  }
}
