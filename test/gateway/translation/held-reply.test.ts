import { expect, it } from 'vitest'
import { HeldReply } from '../../../src/gateway/translation/held-reply.ts'
import type { Leg } from '../../../src/gateway/upstream/leg.ts'

const million = 1024 * 1024
const text = (length: number) => [{ kind: 'text' as const, part: 0, text: 'x'.repeat(length) }]

/** A request's body of 100 bytes, in a budget that has room, or has none. */
function keep(hasRoom = true) {
  const asked: number[] = []
  const body = { bytes: Buffer.alloc(100), reserved: 0 }
  const reserve = (_: object, bytes: number) => asked.push(bytes) > 0 && hasRoom
  const leg = { call: { body, gateway: { memoryBudget: { reserve } } } } as unknown as Leg
  return { held: new HeldReply(leg), asked }
}

it('asks for no room for an answer of usual length', () => {
  const { held, asked } = keep(false)
  expect(held.add(text(500_000))).toBeNull()
  expect(asked).toEqual([])
})

it('asks for more as the answer grows, beside the request’s body', () => {
  const { held, asked } = keep()
  expect(held.hold(2 * million)).toBeNull()
  expect(held.hold(million)).toBeNull()
  expect(asked).toEqual([2 * million + 100, 3 * million + 100])
  held.hold(-3 * million)
  expect(held.add(text(10))).toBeNull()
  expect(asked).toHaveLength(2)
})

it('takes no more where the budget has no room', () => {
  expect(keep(false).held.hold(2 * million)).toMatchObject({ code: 'overloaded' })
})

it('takes no more than any answer needs, whatever room there is', () => {
  const { held } = keep()
  expect(held.add(text(30 * million))).toBeNull()
  expect(held.add(text(million))).toMatchObject({
    code: 'provider_bad_response',
    message: expect.stringContaining('32 MB'),
  })
})

it('counts what comes with a text', () => {
  const { held, asked } = keep()
  const logprobs = [{ token: 'x'.repeat(2 * million), logprob: 0, bytes: null, top_logprobs: [] }]
  expect(held.add([{ kind: 'text', part: 0, text: 'x', logprobs }])).toBeNull()
  expect(asked).toHaveLength(1)
})

it('counts events that say nothing, and what is no text', () => {
  const { held, asked } = keep()
  const [many, value, url] = [20_000, 'y'.repeat(1000), 'https://a.example'] as const
  for (let count = 0; count < many; count++) expect(held.add([])).toBeNull()
  expect(held.add([{ kind: 'opaque', part: 0, opaque: { family: 'anthropic', form: 'signature', value } }])).toBeNull()
  const cited = { kind: 'citation' as const, part: 0, citation: { url, title: value, start: null, end: null } }
  expect(held.add([cited])).toBeNull()
  expect(asked.at(-1)).toBeGreaterThan(many * 64 + 2000)
})
