import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SentEvent } from '../../../src/admin/contract/requests/send.ts'
import { matchesPattern } from '../../../src/console/app/areas/lane-models.ts'
import { applyEvent, emptyResponse } from '../../../src/console/app/areas/playground/playground-response.ts'
import { continueDraft, type Draft, firstDraft } from '../../../src/console/app/areas/playground/playground-state.ts'
import { freeName } from '../../../src/console/app/areas/providers/add-choices.ts'
import { healthSpans, readyShare } from '../../../src/console/app/areas/providers/health-strip.ts'
import { joinRows, type Pushed, push } from '../../../src/console/app/areas/requests/request-rows.ts'
import { expectedShares, pictureHeight } from '../../../src/console/app/areas/routing/route-picture.ts'
import { moveRow, newRow } from '../../../src/console/app/areas/routing/target-rows.ts'
import { parseSearch, safeNext, writeSearch } from '../../../src/console/app/shell/address.ts'
import { sampleRecord } from '../../support/sample-record.ts'

const numRuns = 60

describe('a list of requests that is pushed to', () => {
  type Step =
    | { kind: 'begin'; held: boolean }
    | { kind: 'end'; which: number; held: boolean }
    | { kind: 'release' }
    | { kind: 'read' }
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ kind: fc.constant('begin' as const), held: fc.boolean() }),
    fc.record({ kind: fc.constant('end' as const), which: fc.nat(30), held: fc.boolean() }),
    fc.constantFrom<Step>({ kind: 'release' }, { kind: 'read' }),
  )

  it('has each request once, in its last state, the newest first', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        /** What the gateway has, the newest first. */
        let rows: ReturnType<typeof sampleRecord>[] = []
        let listed: typeof rows = []
        let state: Pushed = { shown: [], waiting: [] }
        const isListed = (id: string) => listed.some((row) => row.id === id)
        for (const each of steps) {
          if (each.kind === 'release') state = push(state, 'release')
          else if (each.kind === 'read') {
            const before = state
            listed = rows
            state = push(state, { reread: before })
          } else if (each.kind === 'begin') {
            const row = sampleRecord({ id: `req_${rows.length}`, state: 'admitted' })
            rows = [row, ...rows]
            state = push(state, { rows: [row], held: each.held, isListed })
          } else {
            const row = rows[each.which]
            if (row === undefined || row.state === 'settled') continue
            const ended: typeof row = { ...row, state: 'settled' }
            rows = rows.map((other) => (other === row ? ended : other))
            state = push(state, { rows: [ended], held: each.held, isListed })
          }
        }
        const shown = joinRows(push(state, 'release').shown, [listed])
        expect(shown.map(({ id, state }) => `${id} ${state}`)).toEqual(rows.map(({ id, state }) => `${id} ${state}`))
      }),
      { numRuns },
    )
  })
})

describe('the strip of a provider’s health', () => {
  const entry = fc.record({
    time: fc.integer({ min: -500, max: 1500 }).map((at) => new Date(at).toISOString()),
    state: fc.constantFrom('ready', 'failing', 'unchecked', 'recovering'),
    reason: fc.constant(null),
  })

  it('covers its time without a gap, each span behind the one before', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 12 }), (entries) => {
        const spans = healthSpans(entries, 0, 1000)
        expect(spans[0]?.since).toBe(0)
        expect(spans.at(-1)?.until).toBe(1000)
        for (const [at, span] of spans.entries()) {
          expect(span.until).toBe(spans[at + 1]?.since ?? 1000)
          expect(span.start).toBeCloseTo(span.since / 1000)
        }
        expect(spans.reduce((sum, { size }) => sum + size, 0)).toBeCloseTo(1)
        const last = entries.filter(({ time }) => Date.parse(time) <= 1000)
        const newest = Math.max(...last.map(({ time }) => Date.parse(time)))
        const states = last.filter(({ time }) => Date.parse(time) === newest).map(({ state }) => state)
        expect(last.length === 0 ? ['unknown'] : states).toContain(spans.at(-1)?.state)
        const share = readyShare(spans)
        if (share !== null) expect(share).toBeGreaterThanOrEqual(0)
        if (share !== null) expect(share).toBeLessThanOrEqual(1 + 1e-9)
      }),
      { numRuns },
    )
  })
})

describe('an address', () => {
  const word = fc.string({ minLength: 1, maxLength: 12 }).filter((text) => text.isWellFormed())

  it('says what it was made of, and nothing of what is not there', () => {
    fc.assert(
      fc.property(fc.dictionary(word, fc.oneof(word, fc.constantFrom('', null, undefined))), (search) => {
        const there = Object.entries(search).filter(([, value]) => value !== '' && value != null)
        expect(Object.entries(parseSearch(writeSearch(search))).sort()).toEqual(there.sort())
      }),
      { numRuns },
    )
  })

  it('to go to after sign-in never leads to another site', () => {
    const piece = fc.constantFrom(
      ...['/', '\\', '.', '..', ':', '@', '?', '#', '%2f', '%5c', '\t', '\n', 'evil.example', 'keys', 'http:', ' '],
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), fc.boolean(), (pieces, rooted) => {
        const next = safeNext(`${rooted ? '/' : ''}${pieces.join('')}`)
        expect(new URL(next, 'https://console.example.com').origin).toBe('https://console.example.com')
      }),
      { numRuns: 300 },
    )
  })
})

describe('an answer in the playground', () => {
  const part = fc.record({ text: fc.string({ maxLength: 5 }), raw: fc.string({ maxLength: 8 }), at_ms: fc.nat(1000) })

  it('is all of its parts, and what it was broken off by', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 10 }), fc.option(fc.constant('cut')), (parts, error) => {
        const events = [
          { kind: 'begin', request_id: 'req_1', status: 200, model: null, provider: null },
          ...parts.map((each) => ({ kind: 'part', ...each })),
          { kind: 'end', error, duration_ms: 7, first_text_ms: null },
        ] as SentEvent[]
        const answer = events.reduce(applyEvent, emptyResponse)
        expect(answer.text).toBe(parts.map(({ text }) => text).join(''))
        expect(answer.raw).toBe(parts.map(({ raw }) => raw).join(''))
        expect(answer).toMatchObject({ state: error === null ? 'ended' : 'failed', error, durationMs: 7 })
        expect(answer.firstTextMs).toBe(parts.find(({ text }) => text !== '')?.at_ms ?? null)
      }),
      { numRuns },
    )
  })

  it('keeps no more of what was sent than a page can show, and all of its text', () => {
    const event = { kind: 'part', text: 'x', raw: 'y'.repeat(150_000), at_ms: 1 } as SentEvent
    const answer = Array.from({ length: 20 }, () => event).reduce(applyEvent, emptyResponse)
    expect(answer.text).toHaveLength(20)
    expect(answer.raw.length).toBeLessThan(600_000)
  })

  it('becomes a turn, whose number is nobody else’s', () => {
    let draft: Draft = { ...firstDraft, body: 'changed by hand' }
    for (const answer of ['one', 'two', 'three']) draft = continueDraft(draft, answer)
    expect(draft.body).toBeNull()
    expect(draft.turns.map(({ role }) => role)).toEqual(['user', ...Array(3).fill(['assistant', 'user']).flat()])
    expect(new Set(draft.turns.map(({ id }) => id)).size).toBe(7)
  })
})

describe('targets of a route', () => {
  it('change places, and none of them is lost or doubled', () => {
    fc.assert(
      fc.property(fc.nat(5), fc.integer({ min: -2, max: 7 }), fc.integer({ min: -2, max: 7 }), (count, from, to) => {
        const rows = Array.from({ length: count }, (_, at) => newRow(`p${at}`))
        const moved = moveRow(rows, from, to)
        expect([...moved].sort((a, b) => (a.key < b.key ? -1 : 1))).toEqual(
          [...rows].sort((a, b) => (a.key < b.key ? -1 : 1)),
        )
        if (rows[from] !== undefined && rows[to] !== undefined) expect(moved[to]).toBe(rows[from])
        else expect(moved).toEqual(rows)
      }),
      { numRuns },
    )
  })

  it('share out a whole, within the first priority alone', () => {
    const target = fc.record({ weight: fc.integer({ min: 1, max: 9 }), priority: fc.nat(3) })
    fc.assert(
      fc.property(fc.array(target, { minLength: 1, maxLength: 6 }), (targets) => {
        const shares = expectedShares('weighted', targets)
        const first = Math.min(...targets.map(({ priority }) => priority))
        expect(shares.reduce<number>((sum, share) => sum + (share ?? 0), 0)).toBeCloseTo(1)
        for (const [at, { priority }] of targets.entries()) if (priority !== first) expect(shares[at]).toBe(0)
        expect(expectedShares('priority', targets)).toEqual(targets.map(() => null))
      }),
      { numRuns },
    )
    expect(expectedShares('weighted', [])).toEqual([])
    expect(pictureHeight(0, { width: 1, rowHeight: 40, gap: 8 })).toBe(40)
  })
})

describe('names', () => {
  it('match a pattern as its star says', () => {
    const letters = fc.stringMatching(/^[ab.]{0,5}$/)
    fc.assert(
      fc.property(letters, letters, letters, (start, end, name) => {
        const expression = new RegExp(`^${start.replaceAll('.', '\\.')}.*${end.replaceAll('.', '\\.')}$`)
        expect(matchesPattern(`${start}*${end}`, name)).toBe(expression.test(name))
        expect(matchesPattern(start, name)).toBe(start === name)
      }),
      { numRuns: 200 },
    )
  })

  it('that are proposed are free', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'a-2', 'a-3', 'a-4', 'b'), { maxLength: 6 }), (taken) => {
        const name = freeName('a', taken)
        expect(taken).not.toContain(name)
        if (!taken.includes('a')) expect(name).toBe('a')
      }),
      { numRuns },
    )
  })
})
