import { describe, expect, it } from 'vitest'
import type { ListedModel } from '../../src/lanes/contract.ts'
import { findLane } from '../../src/lanes/index.ts'

const created = 1_760_000_000
const models: ListedModel[] = ['a', 'b', 'tunedModels/c', 'd', 'text-embed'].map((name) => ({
  name,
  owner: 'demo',
  contextTokens: name === 'a' ? 1000 : null,
  outputTokens: name === 'a' ? 100 : null,
  created,
}))

function call(path: string) {
  const lane = findLane(path)
  const match = lane?.match('GET', path.slice(lane.prefix.length)) ?? null
  if (lane === null || match === null) throw new Error(path)
  return { lane, match }
}

function list(path: string, query = ''): Record<string, unknown> {
  const { lane } = call(path)
  return JSON.parse(lane.renderModels(models, query).toString()) as Record<string, unknown>
}

function entry(path: string): unknown {
  const { lane, match } = call(path)
  const model = models.find(({ name }) => name === match.pathModel)
  if (model === undefined) throw new Error(`no ${match.pathModel}`)
  return JSON.parse(lane.renderModel(model).toString())
}

const names = (page: unknown, member: string) => (page as Record<string, string>[]).map((model) => model[member])

describe('OpenAI', () => {
  it('lists and shows', () => {
    expect(list('/v1/models')).toMatchObject({ object: 'list', data: [{ id: 'a' }, { id: 'b' }, {}, {}, {}] })
    expect(entry('/v1/models/b')).toEqual({ id: 'b', object: 'model', created, owned_by: 'demo' })
    expect(entry('/v1/models/a')).toMatchObject({ context_window: 1000, max_completion_tokens: 100 })
  })
})

describe('Anthropic', () => {
  const path = '/v1/anthropic/v1/models'

  it('shows', () => {
    expect(entry(`${path}/a`)).toEqual({
      type: 'model',
      id: 'a',
      display_name: 'a',
      created_at: '2025-10-09T08:53:20Z',
      max_input_tokens: 1000,
      max_tokens: 100,
    })
  })

  it.each([
    ['', ['a', 'b', 'tunedModels/c', 'd', 'text-embed'], false],
    ['?limit=2', ['a', 'b'], true],
    ['?limit=2&after_id=b', ['tunedModels/c', 'd'], true],
    ['limit=2&after_id=d', ['text-embed'], false],
    ['?limit=2&before_id=d', ['b', 'tunedModels/c'], true],
    ['?limit=2&before_id=b', ['a'], false],
    ['?limit=nonsense&after_id=unknown', ['a', 'b', 'tunedModels/c', 'd', 'text-embed'], false],
    ['?after_id=text-embed', [], false],
  ])('pages %j', (query, expected, more) => {
    const page = list(path, query)
    expect(names(page.data, 'id')).toEqual(expected)
    expect(page).toMatchObject({ has_more: more, first_id: expected[0] ?? null, last_id: expected.at(-1) ?? null })
  })
})

describe('Gemini', () => {
  const path = '/v1/gemini/v1beta/models'

  it('shows', () => {
    expect(entry(`${path}/a`)).toEqual({
      name: 'models/a',
      displayName: 'a',
      inputTokenLimit: 1000,
      outputTokenLimit: 100,
      supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
    })
    expect(entry('/v1/gemini/v1beta/tunedModels/c')).toMatchObject({ name: 'tunedModels/c' })
    expect(entry(`${path}/text-embed`)).toMatchObject({
      supportedGenerationMethods: expect.arrayContaining(['embedContent']),
    })
  })

  it('pages to the end', () => {
    const seen: unknown[] = []
    let token = ''
    do {
      const page = list(path, `?pageSize=2&pageToken=${token}`)
      expect(names(page.models, 'name').length).toBeLessThanOrEqual(2)
      seen.push(...names(page.models, 'name'))
      token = String(page.nextPageToken ?? '')
    } while (token !== '')
    expect(seen).toEqual(['models/a', 'models/b', 'tunedModels/c', 'models/d', 'models/text-embed'])
  })
})
