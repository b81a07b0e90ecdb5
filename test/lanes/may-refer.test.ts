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
/** A name's JSON with some of its characters as escapes, or as others that fold to them. */
const write = (all: readonly string[]) =>
  fc
    .tuple(
      fc.constantFrom(...all, 'content', 'role', 'text', 'parts'),
      fc.constantFrom('', 'e', 'o', 'eo'),
      fc.array(fc.nat({ max: 2 }), { minLength: 30, maxLength: 30 }),
    )
    .map(([name, ways, chosen]) => {
      const letters = [...name].map((letter, at) => writeLetter(letter, ways[chosen[at]!]))
      return `"${letters.join('')}"`
    })

function writeLetter(letter: string, way: string | undefined): string {
  if (way === 'e') return `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
  if (way !== 'o') return letter
  return letter === 's' ? '\u017f' : letter === 'k' ? '\u212a' : letter.toUpperCase()
}

const writeValue = (writtenName: fc.Arbitrary<string>) =>
  fc.letrec<{ value: string; object: string }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('"files/a"', '"skill_1"', '"audio_1"', '"item_reference"', '1', 'null', '"say \\"file_id\\""'),
      tie('object'),
      fc.array(tie('value'), { maxLength: 3 }).map((each) => `[${each.join(', ')}]`),
    ),
    object: fc
      .array(fc.tuple(writtenName, tie('value')), { maxLength: 4 })
      .map((members) => `{${members.map((pair) => pair.join(': ')).join(',')}}`),
  })).value

const calls = [
  // What else refers to an object has no place in a chat.
  ['POST', '/v1/chat/completions', ['file_id', 'audio', 'id', 'uri']],
  ['POST', '/v1/responses', names],
  ['POST', '/v1/anthropic/v1/messages', names],
  ['POST', '/v1/gemini/v1beta/models/m:generateContent', names],
] as const

describe.each(calls)('a body of %s %s', (method, path, all) => {
  const lane = findLane(path)!
  const match = lane.match(method, path.slice(lane.prefix.length))!

  const writtenName = write(all)
  const value = writeValue(writtenName)

  it('is said to name nothing only where it does name nothing', () => {
    let naming = 0
    fc.assert(
      fc.property(fc.array(fc.tuple(writtenName, value), { minLength: 1, maxLength: 4 }), (members) => {
        const body = Buffer.from(`{"model":"m",${members.map((pair) => pair.join(':')).join(',')}}`)
        const found = match.endpoint.inspect(match, '', body)
        const named = match.endpoint.references('', body)
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
    expect(match.endpoint.inspect(match, '', body)).toMatchObject({ mayRefer: false })
  })
})
