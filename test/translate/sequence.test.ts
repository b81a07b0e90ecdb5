import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ReplyEvent } from '../../src/translate/reply.ts'
import { PartSequence } from '../../src/translate/sequence.ts'

type PartEvent = Extract<ReplyEvent, { part: number }>

/** Parts as a provider may mix them: each in its own order, some without an end. */
const mixed = fc
  .array(fc.record({ pieces: fc.array(fc.string(), { maxLength: 4 }), ends: fc.boolean() }), { maxLength: 5 })
  .chain((parts) => {
    const lists = parts.map(({ pieces, ends }, part) => [
      { kind: 'call', part, id: `c${part}`, name: 'f', custom: false } satisfies PartEvent,
      ...pieces.map((text): PartEvent => ({ kind: 'arguments', part, text })),
      ...(ends ? [{ kind: 'part-end', part } satisfies PartEvent] : []),
    ])
    const turns = lists.flatMap((list, index) => list.map(() => index))
    return fc.shuffledSubarray(turns, { minLength: turns.length, maxLength: turns.length }).map((order) => {
      const left = lists.map((list) => [...list])
      return order.flatMap((index): PartEvent[] => left[index]?.splice(0, 1) ?? [])
    })
  })

function textOf(events: readonly ReplyEvent[], part: number): string {
  return events.map((event) => (event.kind === 'arguments' && event.part === part ? `${event.text}|` : '')).join('')
}

it('puts parts one after another, whole and in the order in which they began', () => {
  fc.assert(
    fc.property(mixed, (events) => {
      const sequence = new PartSequence()
      const ordered = [...events.flatMap((event) => sequence.order([event])), ...sequence.end()]
      const begun = [...new Set(events.map(({ part }) => part))]
      const parts = ordered.flatMap((event) => ('part' in event ? [event.part] : []))
      expect([...new Set(parts)]).toEqual(begun)
      // Sorted by when they began: nothing of a part comes after the next one has begun.
      expect(parts).toEqual(begun.flatMap((part) => parts.filter((one) => one === part)))
      for (const part of begun) {
        expect(textOf(ordered, part)).toBe(textOf(events, part))
        expect(ordered.filter((event) => event.kind === 'part-end' && event.part === part)).toHaveLength(1)
      }
    }),
  )
})

it('passes the first open part on at once, and nothing of a part that has ended', () => {
  const sequence = new PartSequence()
  const text = (part: number): ReplyEvent => ({ kind: 'text', part, text: 'a' })
  const end = (part: number): ReplyEvent => ({ kind: 'part-end', part })
  expect(sequence.order([text(0)])).toEqual([text(0)])
  expect(sequence.order([text(1), text(0)])).toEqual([text(0)])
  expect(sequence.order([end(0)])).toEqual([end(0), text(1)])
  expect(sequence.order([text(0), text(1)])).toEqual([text(1)])
  const stop: ReplyEvent = { kind: 'stop', stop: { reason: 'done', sequence: null, explanation: null } }
  expect(sequence.order([stop])).toEqual([end(1), stop])
})
