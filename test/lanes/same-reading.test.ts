import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { upstreamPath } from '../../src/gateway/upstream/leg.ts'
import { findLane } from '../../src/lanes/index.ts'
import { isFault } from '../../src/lanes/request-body.ts'

/**
 * Policies and routes go by what the gateway reads of a request, and the provider by what its own parser reads of the same bytes. What the
 * gateway lets through must mean the same to every parser: to one that takes the first of repeated members, or the last, or any spelling.
 */

function find(call: string) {
  const [method = '', path = ''] = call.split(' ')
  const lane = findLane(path)!
  return { lane, match: lane.match(method, path.slice(lane.prefix.length))! }
}

const space = fc.constantFrom('', ' ', '\n', '\t ')
const modelKey = fc.constantFrom(
  '"model"',
  '"model"',
  '"mod\\u0065l"',
  '"Model"',
  '"MODEL"',
  '"model "',
  '"\\u006dodel"',
)
const otherKey = fc.constantFrom('"messages"', '"input"', '"metadata"', '"stream"', '"a"', '"modell"')
const modelValue = fc.constantFrom(
  '"a"',
  '"a"',
  '"\\u0061"',
  '"b"',
  '"models/a"',
  '""',
  '" "',
  'null',
  '1',
  '{"model":"c"}',
)
const otherValue = fc.constantFrom(
  'null',
  'true',
  '"model"',
  '{"model":"c"}',
  '[{"model":"d"},"\\"model\\":\\"e\\""]',
  '-1e3',
)
const member = fc.oneof(fc.tuple(modelKey, modelValue), fc.tuple(otherKey, otherValue))
const body = fc
  .tuple(fc.array(fc.tuple(space, member, space), { minLength: 1, maxLength: 5 }), space)
  .map(([members, end]) => ({
    members: members.map(([, [key, value]]) => ({
      key: JSON.parse(key) as string,
      value: JSON.parse(value) as unknown,
    })),
    text: `{${members.map(([before, [key, value], after]) => `${before}${key}${after}:${before}${value}${after}`).join(',')}}${end}`,
  }))

const bare = (name: string) => name.replace(/^(?:models\/)+/, '')

describe.each([
  'POST /v1/chat/completions',
  'POST /v1/responses',
  'POST /v1/embeddings',
  'POST /v1/moderations',
  'POST /v1/anthropic/v1/messages',
  'POST /v1/anthropic/v1/messages/count_tokens',
  'POST /v1/gemini/v1beta/cachedContents',
  'POST /v1/gemini/v1beta/interactions',
])('the model of %s', (call) => {
  const { lane, match } = find(call)
  const isOptional = match.endpoint.model === 'body-optional'
  const nameOf = (value: string) => (lane.name === 'gemini' ? bare(value) : value)

  it('is the same for every parser, and so is the one that takes its place', () => {
    let accepted = 0
    fc.assert(
      fc.property(body, ({ members, text }) => {
        const bytes = Buffer.from(text)
        const found = match.endpoint.inspect(match, '', bytes)
        if (isFault(found)) return
        const values = members.filter(({ key }) => key.toLowerCase() === 'model').map(({ value }) => value)
        const named = isOptional ? values.filter((value) => value !== null) : values
        for (const value of named) expect(nameOf(value as string)).toBe(found.model)
        expect(found.modelSpans).toHaveLength(named.length)
        if (found.model === null) return
        accepted++
        const patched = lane.patchBody(bytes, found, { renameTo: 'other', askForUsage: false }).toString()
        const after = [...patched.matchAll(/"(?:models\/)?other"/g)]
        expect(after).toHaveLength(named.length)
        const { model } = JSON.parse(patched) as { model: string | null }
        if (model !== null) expect(nameOf(model)).toBe('other')
      }),
      { numRuns: 1500 },
    )
    expect(accepted).toBeGreaterThan(50)
  })
})

describe('the model of a WebSocket', () => {
  const { lane, match } = find('SOCKET /v1/realtime')
  const name = fc.constantFrom(
    'model',
    'mod%65l',
    '%6Dodel',
    'Model',
    'deployment',
    'intent',
    'call_id',
    'model%20',
    'x',
  )
  const value = fc.constantFrom('a', 'a', '%61', 'b', '', 'a%26model=b', 'a+b')
  const query = fc
    .array(fc.tuple(name, fc.constantFrom('=', '=', ''), value), { minLength: 1, maxLength: 4 })
    .map((parts) => `?${parts.map((part) => part.join('')).join('&')}`)

  it('goes to the provider once, as the one that was checked', () => {
    let accepted = 0
    fc.assert(
      fc.property(query, (asked) => {
        const found = match.endpoint.socket!.handshake(match, asked, null)
        if (isFault(found) || found.model === null) return
        accepted++
        for (const one of new URLSearchParams(asked).getAll('model')) expect(one).toBe(found.model)
        const { searchParams } = new URL(upstreamPath(lane, match, found, 'other'), 'http://host')
        const models = [...searchParams].filter(([key]) => /^(?:model|deployment)$/i.test(key.trim()))
        expect(models).toEqual([['model', 'other']])
      }),
      { numRuns: 2000 },
    )
    expect(accepted).toBeGreaterThan(50)
  })
})

describe.each([
  ['POST /v1/chat/completions', 'file_id', ['"file_id"', '"file\\u005fid"', '"FILE_ID"']],
  ['POST /v1/responses', 'file_id', ['"file_id"', '"file\\u005fid"', '"File_Id"']],
  ['POST /v1/responses', 'previous_response_id', ['"previous_response_id"', '"Previous_response_id"']],
  ['POST /v1/anthropic/v1/messages', 'file_id', ['"file_id"', '"file\\u005fid"', '"FILE_ID"']],
  ['POST /v1/gemini/v1beta/models/m:generateContent', 'fileuri', ['"fileUri"', '"file\\u0055ri"', '"FILEURI"']],
] as const)('the objects that a body of %s names as %s', (call, folded, spellings) => {
  const { match } = find(call)
  const id = fc.constantFrom('"files/a"', '"files/b"', '"\\u0066iles/c"', '""', '7', 'null')
  const { value } = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('1', '"text"', '[]', '{}'),
      fc.array(tie('value'), { maxLength: 3 }).map((each) => `[${each.join(',')}]`),
      fc
        .array(
          fc.oneof(
            fc.tuple(fc.constantFrom(...spellings), id),
            fc.tuple(fc.constantFrom('"content"', '"parts"', '"source"'), tie('value')),
          ),
          { maxLength: 4 },
        )
        .map((members) => `{${members.map((pair) => pair.join(':')).join(',')}}`),
    ),
  }))

  /** As a parser reads them that takes the last of repeated members. */
  function idsIn(parsed: unknown): string[] {
    if (typeof parsed !== 'object' || parsed === null) return []
    return Object.entries(parsed).flatMap(([key, member]) =>
      key.toLowerCase() === folded && typeof member === 'string' && member !== '' ? [member] : idsIn(member),
    )
  }

  it('are all found that a parser finds', () => {
    let named = 0
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 3 }), (values) => {
        const text = `{"model":"m","messages":[${values.join(',')}]}`
        const bytes = Buffer.from(text)
        const found = match.endpoint.inspect(match, '', bytes)
        if (isFault(found)) return
        const references = match.endpoint.references('', bytes)
        if (isFault(references)) return
        const ids = new Set(references.map((one) => one.id))
        const parsed = idsIn(JSON.parse(text))
        if (parsed.length > 0) named++
        for (const one of parsed) expect(ids).toContain(one)
        if (parsed.length > 0) expect(found.mayRefer).toBe(true)
      }),
      { numRuns: 1000 },
    )
    expect(named).toBeGreaterThan(50)
  })
})
