import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findLane } from '../../src/lanes/index.ts'

const names = [
  'file_id',
  'container',
  'previous_response_id',
  'item_reference',
  'input',
  'uri',
  'fileUri',
  'cached_content',
  'id',
  'skill_id',
  'audio',
  'thread',
  'previous_message_id',
  'conversation',
]
const plainName = fc.constantFrom(...names, 'content', 'role', 'text', 'parts')

/** A name's JSON with some of its characters as escapes. */
const writtenName = fc
  .tuple(plainName, fc.array(fc.boolean(), { minLength: 30, maxLength: 30 }))
  .map(([name, escaped]) => {
    const letters = [...name].map((letter, at) =>
      escaped[at] ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}` : letter,
    )
    return `"${letters.join('')}"`
  })

const { value } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('"files/a"', '"skill_1"', '"audio_1"', '"item_reference"', '1', 'null', '"say \\"file_id\\""'),
    tie('object'),
    fc.array(tie('value'), { maxLength: 3 }).map((each) => `[${each.join(', ')}]`),
  ),
  object: fc
    .array(fc.tuple(writtenName, tie('value')), { maxLength: 4 })
    .map((members) => `{${members.map((pair) => pair.join(': ')).join(',')}}`),
}))

const calls = [
  ['POST', '/v1/chat/completions'],
  ['POST', '/v1/responses'],
  ['POST', '/v1/anthropic/v1/messages'],
  ['POST', '/v1/gemini/v1beta/models/m:generateContent'],
] as const

describe.each(calls)('a body of %s %s', (method, path) => {
  const lane = findLane(path)!
  const match = lane.match(method, path.slice(lane.prefix.length))!

  it('is said to name nothing only where it does name nothing', () => {
    let naming = 0
    fc.assert(
      fc.property(fc.array(fc.tuple(writtenName, value), { minLength: 1, maxLength: 4 }), (members) => {
        const body = Buffer.from(`{"model":"m",${members.map((pair) => pair.join(':')).join(',')}}`)
        const found = lane.inspect(match, '', body)
        const named = lane.objects.references(match, '', body)
        if ('code' in found || 'code' in named || named.length === 0) return
        naming++
        expect(found.mayRefer).toBe(true)
      }),
      { numRuns: 1500 },
    )
    expect(naming).toBeGreaterThan(20)
  })

  it('that quotes a name in its text names nothing', () => {
    const body = Buffer.from(
      JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'say "file_id": "a" \n' }] }),
    )
    expect(lane.inspect(match, '', body)).toMatchObject({ mayRefer: false })
  })
})
