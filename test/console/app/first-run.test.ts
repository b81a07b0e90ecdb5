import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { firstSnippets } from '../../../src/console/app/areas/first-run/first-snippets.ts'
import {
  describeSetUp,
  type FoundSetUp,
  favouriteOf,
  modelToTry,
} from '../../../src/console/app/areas/first-run/set-up.ts'
import type { Provider, Route } from '../../../src/console/app/areas/outputs.ts'

const nothing: FoundSetUp = { providers: [], routes: [], keys: [], requests: [] }
const providers = [{ name: 'openai' } as unknown as Provider]
const routes = [{ model: 'gpt-4o' } as unknown as Route]
const requests = [{ id: 'req_2' }, { id: 'req_1' }]

/** The steps that are done, and the next. */
function steps(found: Partial<FoundSetUp>): string {
  const { done, next } = describeSetUp({ ...nothing, ...found })
  const names = Object.entries(done).flatMap(([name, isDone]) => (isDone ? [name] : []))
  return `${names.join(' ')} → ${next}`
}

describe('the way to the first request', () => {
  it('goes on with what is missing, on whichever surface the rest was done', () => {
    expect(steps({})).toBe(' → provider')
    expect(steps({ providers })).toBe('provider → route')
    expect(steps({ providers, routes })).toBe('provider route → key')
    expect(steps({ providers, routes, keys: [{ state: 'active' }] })).toBe('provider route key → request')
    expect(steps({ routes, keys: [{ state: 'active' }] })).toBe('route key → provider')
  })

  it('asks for a key that works', () => {
    expect(steps({ providers, routes, keys: [{ state: 'revoked' }] })).toBe('provider route → key')
    expect(steps({ providers, routes, keys: [{ state: 'revoked' }, { state: 'active' }] })).toMatch(/key → request$/)
  })

  it('ends with a request, whatever became of its key, and leads to the latest', () => {
    expect(steps({ providers, routes, requests })).toBe('provider route key request see → null')
    expect(describeSetUp({ ...nothing, requests }).requestId).toBe('req_2')
    expect(describeSetUp(nothing).requestId).toBeNull()
  })
})

describe('the model that is suggested', () => {
  it.each([
    [['gpt-4o', 'gpt-4o-mini', 'gpt-5-mini'], 'gpt-4o-mini'],
    [['gpt-5', 'gpt-5-mini'], 'gpt-5-mini'],
    [['claude-opus-4-1', 'claude-haiku-4-5'], 'claude-haiku-4-5'],
    [['gemini-2.5-pro', 'gemini-2.5-flash'], 'gemini-2.5-flash'],
    [['text-embedding-3', 'gpt-4o'], 'gpt-4o'],
    [['llama3.1', 'qwen3'], 'llama3.1'],
    [[], ''],
  ])('of %j is %j', (names, favourite) => {
    expect(favouriteOf(names)).toBe(favourite)
  })

  it('in the lines to copy is one that a client can name', () => {
    expect(modelToTry([{ model: '*' }, { model: 'fast' }])).toBe('fast')
    expect(modelToTry([{ model: 'openai/*' }])).toBe('openai/*')
    expect(modelToTry([])).toBe('gpt-4o-mini')
  })
})

describe('the lines to copy', () => {
  const code = (title: string, ...[url, model, key]: Parameters<typeof firstSnippets>) =>
    firstSnippets(url, model, key).find((snippet) => snippet.title === title)?.code ?? ''

  it('carry the address, the model and the key', () => {
    for (const { title, code: text } of firstSnippets('http://127.0.0.1:8787', 'fast', 'sp_live_abc')) {
      expect(text, title).toContain('http://127.0.0.1:8787/v1')
      expect(text, title).toContain('fast')
      expect(text, title).toContain('sp_live_abc')
    }
  })

  it('take a key that is known no more from the environment', () => {
    expect(code('curl', 'http://h', 'm', '$SPGW_KEY')).toContain('Bearer $SPGW_KEY')
    expect(code('JavaScript', 'http://h', 'm', '$SPGW_KEY')).toContain('apiKey: process.env.SPGW_KEY,')
    expect(code('Python', 'http://h', 'm', '$SPGW_KEY')).toContain('api_key=os.environ["SPGW_KEY"])')
  })

  it('hold in a shell whatever the model is called', () => {
    const model = `it's "odd" $HOME \\`
    const shell = code('curl', 'http://h', model, 'k').replace(/^curl -s/, 'printf "%s\\n"')
    const lines = execFileSync('sh', ['-c', shell], { encoding: 'utf8' }).trimEnd().split('\n')
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ model })
  })
})
