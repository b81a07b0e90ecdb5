import { ORPCError } from '@orpc/server'
import { describe, expect, it } from 'vitest'
import type { AdminContext, Inspected } from '../../src/admin/handlers/context.ts'
import { readAttachments, showAttachments, showHolders } from '../../src/admin/handlers/policies/attachments.ts'
import { readQuestion } from '../../src/admin/handlers/routes/explain-question.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import type { Environment, Key, Project } from '../../src/store/api.ts'
import { sampleRecord } from '../support/sample-record.ts'

const refusal = async (run: Promise<unknown>) => {
  const error = await run.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  return error instanceof ORPCError ? error.message : String(error)
}

describe('the request that is asked about', () => {
  const scope = { project: 'default', environment: 'production' }
  const body = { 'body.json': '{}' }
  const plain = { operation: 'chat', streamed: true, bytes: 2, outputLimit: 5, answers: 1, conversation: null }
  const seen = (lane: 'openai' | 'anthropic', model: string | null) =>
    ({ ...plain, lane, model }) as object as Inspected

  const ask = (
    input: object,
    { found = [], record = null }: { found?: Inspected[]; record?: RequestRecord | null } = {},
  ) =>
    readQuestion(
      {
        runtime: { inspect: async () => found, describeCall: async () => null },
        store: { records: { get: async () => record } },
      } as object as AdminContext,
      { ...scope, ...input },
    )

  it('is any of a model’s name', async () => {
    expect(await ask({ model: 'm', key: 'ci' })).toMatchObject({
      ...{ ...scope, key: 'ci', past: null },
      questions: [{ model: 'm', lanes: [], operation: null, bytes: 0, conversation: null }],
    })
    expect((await ask({ model: 'm', lane: 'gemini' })).questions[0]?.lanes).toEqual(['gemini'])
  })

  it('is one of a body, for each lane that takes it; a name that is given goes before the body’s own', async () => {
    const found = [
      seen('openai', 'm'),
      { fault: { message: 'no max_tokens' } } as object as Inspected,
      seen('anthropic', 'n'),
    ]
    const { questions } = await ask({ body }, { found })
    expect(questions.map(({ lanes, model, bytes }) => [lanes, model, bytes])).toEqual([
      [['openai'], 'm', 2],
      [['anthropic'], 'n', 2],
    ])
    expect((await ask({ body, model: 'x' }, { found })).questions.map(({ model }) => model)).toEqual(['x', 'x'])
  })

  it.each<[object, Inspected[], string]>([
    [{}, [], 'Nothing says which request is meant.'],
    [{ body, request: 'req_1' }, [], '--body and --request exclude each other.'],
    [{ body: {} }, [], 'A request has one body.'],
    [{ body: { a: '', b: '' } }, [], 'A request has one body.'],
    [{ body }, [], 'No lane takes a body of this form.'],
    [
      { body },
      [{ fault: { message: 'it is no JSON' } } as object as Inspected],
      'would reject the body: it is no JSON',
    ],
    [{ body }, [seen('openai', null)], 'The body names no model.'],
    [{ request: 'req_1' }, [], 'There is no request "req_1".'],
  ])('is refused: %j', async (input, found, message) => {
    expect(await refusal(ask(input, { found }))).toContain(message)
  })

  it('is one of the past, as it was then and with what is asked of it now', async () => {
    const record = sampleRecord({ id: 'req_1', project: 'search', environment: 'staging', request_bytes: 7 })
    expect(await ask({ request: 'req_1' }, { record })).toMatchObject({
      ...{ project: 'search', environment: 'staging', key: 'key_1' },
      past: { id: 'req_1', provider: 'openai', upstream_model: 'gpt-4o-mini', bytes: 7 },
      questions: [{ model: 'gpt-4o-mini', lanes: ['openai'], operation: 'chat.completions', streamed: true, bytes: 7 }],
    })
    // The file of a form is no prompt.
    const upload = sampleRecord({ operation: 'audio.transcriptions', request_bytes: 5_000_000 })
    expect((await ask({ request: 'req_1' }, { record: upload })).questions).toMatchObject([{ input: 0 }])
    expect((await ask({ request: 'req_1' }, { record })).questions).toMatchObject([{ input: 2 }])
    // On another lane it would be another call.
    expect(await ask({ request: 'req_1', lane: 'anthropic', model: 'm', key: 'web' }, { record })).toMatchObject({
      ...{ key: 'web', questions: [{ model: 'm', lanes: ['anthropic'], operation: null }] },
    })
  })

  it('of the past has the place that is asked for where its own is not known, and needs a model', async () => {
    const bare = sampleRecord({ project: null, environment: null, key: null, lane: null, model: null })
    expect(await refusal(ask({ request: 'req_1' }, { record: bare }))).toContain('named no model')
    expect(await ask({ request: 'req_1', model: 'm' }, { record: bare })).toMatchObject({ ...scope, key: null })
  })
})

describe('where a policy holds', () => {
  const projects = ['a', 'b'].map((name) => ({ id: `prj_${name}`, name }) as Project)
  const environments = projects.flatMap(({ id, name }) =>
    ['production', 'staging'].map((each) => ({ id: `env_${name}_${each}`, name: each, projectId: id }) as Environment),
  )
  const key = (id: string, name: string, place: string, more: Partial<Key> = {}) => {
    const [project = '', environment = ''] = place.split('/')
    const scope = { projectId: `prj_${project}`, environmentId: `env_${project}_${environment}` }
    return { id, name, ...scope, policyId: null, revokedAt: null, ...more } as Key
  }
  const keys = [
    key('key_1', 'ci', 'a/production'),
    key('key_2', 'web', 'a/production'),
    key('key_3', 'web', 'b/staging', { policyId: 'pol_1' }),
    key('key_4', 'old', 'a/staging', { policyId: 'pol_1', revokedAt: '2026-01-01' }),
    key('key_5', 'ci', 'b/staging', { revokedAt: '2026-01-01' }),
  ]
  const places = { projects, environments, keys, owned: () => ({}) }
  const context = {
    store: {
      projects: { find: async (name: string) => projects.find((each) => each.name === name) ?? null },
      environments: {
        find: async (of: string, name: string) =>
          environments.find((each) => each.projectId === of && each.name === name) ?? null,
      },
      keys: {
        list: async () => keys,
        find: async (name: string, of: string, where: string) =>
          keys.find((each) => each.name === name && each.projectId === of && each.environmentId === where) ?? null,
      },
    },
  } as object as AdminContext

  it('is shown in the words in which it is written, and read as what it was', async () => {
    const attachedTo = { workspace: true, ids: ['prj_a', 'env_b_staging', 'key_1', 'key_2', 'key_3'] }
    const words = showAttachments(attachedTo, places)
    // A name that another environment has as well is written with its place; one of a revoked key is nobody's.
    expect(words).toEqual([
      ...['workspace', 'project:a', 'environment:b/staging', 'key:ci', 'key:a/production/web', 'key:b/staging/web'],
    ])
    expect(await readAttachments(context, words)).toEqual(attachedTo)
  })

  it('is each place once, and what is gone shows as its id', async () => {
    expect(await readAttachments(context, ['key:ci', 'key:a/production/ci', 'key:key_1'])).toEqual({
      ...{ workspace: false, ids: ['key_1'] },
    })
    expect(showAttachments({ workspace: false, ids: ['key_9'] }, places)).toEqual(['key_9'])
  })

  it('is with keys that name it themselves, and are not revoked', () => {
    expect(showHolders('pol_1', places)).toEqual(['key:b/staging/web'])
  })

  it.each([
    ['key:web', 'Several environments have a key "web".'],
    ['key:old', 'There is no key "old".'],
    ['key:a/production/x', 'There is no key in a/production named "x".'],
    ['key:a/production', 'is nothing that a policy can apply to.'],
    ['key:a//ci', 'is nothing that a policy can apply to.'],
    ['environment:a', 'is nothing that a policy can apply to.'],
    ['environment:a/production/x', 'is nothing that a policy can apply to.'],
    ['environment:x/production', 'There is no project "x".'],
    ['project:x', 'There is no project "x".'],
    ['everything', 'is nothing that a policy can apply to.'],
    [':a', 'is nothing that a policy can apply to.'],
    ['', 'is nothing that a policy can apply to.'],
  ])('is not %j', async (word, message) => {
    expect(await refusal(readAttachments(context, ['workspace', word]))).toContain(message)
  })
})
