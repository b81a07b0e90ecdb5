import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FormatName } from '../../../src/core/format.ts'
import { asArray, asObject, type JsonObject } from '../../../src/core/json/json-value.ts'
import { type RequestOptions, translateRequest } from './stage.ts'

/** From one format to another: the body of a conversation's first turns, and what the provider takes. */
export type TalkPair<Talk> = readonly [
  from: FormatName,
  to: FormatName,
  write: (talk: Talk, turns: number) => JsonObject,
  options: RequestOptions,
]

const turnsOf: Readonly<Record<FormatName, string>> = {
  chat: 'messages',
  responses: 'input',
  messages: 'messages',
  generate: 'contents',
}

/** A conversation that goes on: the provider finds in its cache what it was sent before. */
export function describePrefixes<Talk extends { rounds: readonly unknown[] }>(
  pairs: readonly TalkPair<Talk>[],
  talks: fc.Arbitrary<Talk>,
  numRuns: number,
): void {
  describe.each(pairs)('%s to %s', (from, to, write, options) => {
    it(`${options.model}: gives the same bytes twice, and each turn begins like the one before`, () => {
      fc.assert(
        fc.property(talks, (talk) => {
          let before: JsonObject | null = null
          for (let turns = 0; turns < talk.rounds.length; turns++) {
            const written = JSON.stringify(write(talk, turns))
            const { body: text, refused } = translateRequest(from, to, written, options)
            expect(refused).toBeNull()
            expect(translateRequest(from, to, written, options).body).toBe(text)
            const sent = asObject(JSON.parse(text ?? 'null'))
            if (before !== null) expectPrefix(before, sent, turnsOf[to])
            before = sent
          }
        }),
        { numRuns },
      )
    })

    it(`${options.model}: a cache mark goes up, or is listed`, () => {
      fc.assert(
        fc.property(talks, (talk) => {
          const written = JSON.stringify(write(talk, talk.rounds.length - 1))
          const { body: text, losses } = translateRequest(from, to, written, options)
          const listed = losses.filter((path) => /(?:cache_control|prompt_cache_breakpoint)$/.test(path)).length
          expect(countMarks(text ?? '') + listed).toBe(countMarks(written))
        }),
        { numRuns },
      )
    })
  })
}

function countMarks(text: string): number {
  return text.match(/"(?:cache_control|prompt_cache_breakpoint)":/g)?.length ?? 0
}

/** Nothing of an earlier turn changes, apart from marks: Anthropic takes four, and the last four stay. */
function expectPrefix(before: JsonObject, after: JsonObject | null, member: string): void {
  const unmarked = (value: unknown) => {
    const text = JSON.stringify(value)
    if (!text.includes('cache_control')) return JSON.parse(text)
    return JSON.parse(text, (name, found) => (name === 'cache_control' ? undefined : found))
  }
  const [{ [member]: earlier, ...rest }, { [member]: later, ...others }] = [unmarked(before), unmarked(after)]
  expect(others).toEqual(rest)
  const known = asArray(earlier)
  expect(known.length).toBeGreaterThan(0)
  expect(asArray(later).slice(0, known.length)).toEqual(known)
}
