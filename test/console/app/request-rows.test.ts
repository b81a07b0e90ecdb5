import { describe, expect, it } from 'vitest'
import {
  freshOf,
  isTooMuch,
  joinRows,
  type Pushed,
  push,
  tailOf,
} from '../../../src/console/app/areas/requests/request-rows.ts'
import { sampleRecord } from '../../support/sample-record.ts'

type Row = ReturnType<typeof sampleRecord>

const begun = (id: string): Row => sampleRecord({ id, state: 'admitted', status: null })
const ended = (id: string): Row => sampleRecord({ id, state: 'settled', status: 200 })
const nothing: Pushed = { shown: [], waiting: [] }
const inWords = (rows: readonly { id: string; state: string }[]) => rows.map(({ id, state }) => `${id} ${state}`)

/** One push after the other onto a list that was read with the requests that are `listed`. */
function pushAll(pushes: { rows: Row[]; held?: boolean }[], listed: string[] = []): Pushed {
  return pushes.reduce(
    (state, { rows, held = false }) => push(state, { rows, held, isListed: (id) => listed.includes(id) }),
    nothing,
  )
}

describe('requests that are pushed', () => {
  it('end where they began, however many began since', () => {
    const { shown } = pushAll([{ rows: [begun('a'), begun('b')] }, { rows: [begun('c')] }, { rows: [ended('a')] }])
    expect(inWords(shown)).toEqual(['c admitted', 'b admitted', 'a settled'])
  })

  it('stand once where beginning and end come together', () => {
    expect(inWords(pushAll([{ rows: [begun('a'), ended('a')] }]).shown)).toEqual(['a settled'])
  })

  it('are all forgotten with the list that they belong to', () => {
    const state = pushAll([{ rows: [begun('a')] }, { rows: [begun('b')], held: true }])
    expect(push(state, 'forget')).toEqual(nothing)
  })

  it('stand once, though they change while they wait and after', () => {
    const held = pushAll([
      { rows: [begun('a')], held: true },
      { rows: [ended('a'), begun('b')], held: true },
    ])
    expect(inWords(held.waiting)).toEqual(['b admitted', 'a settled'])
    expect(inWords(push(held, { rows: [ended('b')], held: false, isListed: () => true }).shown)).toEqual([
      'b settled',
      'a settled',
    ])
  })

  it('wait while the list is held, unless they only end', () => {
    const state = pushAll([{ rows: [begun('a')] }, { rows: [ended('a'), begun('b')], held: true }])
    expect(inWords(state.shown)).toEqual(['a settled'])
    expect(inWords(state.waiting)).toEqual(['b admitted'])
    const later = push(state, { rows: [ended('b')], held: true, isListed: () => false })
    expect(inWords(later.waiting)).toEqual(['b settled'])
    expect(inWords(push(later, 'release').shown)).toEqual(['b settled', 'a settled'])
  })

  it('change what was read in its place, and are not counted as new', () => {
    const pages = [[begun('b'), ended('a')]]
    const { shown, waiting } = pushAll([{ rows: [ended('b')], held: true }, { rows: [begun('c')] }], ['a', 'b'])
    expect(waiting).toEqual([])
    expect(inWords(joinRows(shown, pages))).toEqual(['c admitted', 'b settled', 'a settled'])
  })

  it('stand once where the list has some of them already', () => {
    expect(inWords(pushAll([{ rows: [ended('b'), begun('c')] }], ['b']).shown)).toEqual(['c admitted', 'b settled'])
  })

  it('still wait when the list is read again, but for those that it has now', () => {
    const before = pushAll([{ rows: [begun('a')], held: true }])
    const meanwhile = push(before, { rows: [begun('b')], held: true, isListed: () => false })
    expect(inWords(push(meanwhile, { reread: before }).waiting)).toEqual(['b admitted'])
  })

  it('do not bring back to life what was read after its end', () => {
    expect(inWords(joinRows([begun('a')], [[ended('a')]]))).toEqual(['a settled'])
  })

  it('leave what the list has read again, in its order, but for what came or changed meanwhile', () => {
    const before = pushAll([{ rows: [begun('a'), begun('b'), begun('c')] }, { rows: [begun('w')], held: true }])
    const meanwhile = push(before, { rows: [ended('b'), begun('d')], held: false, isListed: () => false })
    const { shown, waiting } = push(meanwhile, { reread: before })
    expect(inWords(shown)).toEqual(['d admitted', 'b settled'])
    expect(waiting).toEqual([])
    // What came while nobody listened stands between them; what is further back comes with the next page.
    const rows = joinRows(shown, [[ended('w'), ended('x'), ended('c'), begun('b')]])
    expect(inWords(rows)).toEqual(['d admitted', 'w settled', 'x settled', 'c settled', 'b settled'])
  })

  it('are read as a list before they are many, and when some of those that waited were dropped', () => {
    const many = (from: number, count: number) => Array.from({ length: count }, (_, at) => begun(`r${from + at}`))
    expect(isTooMuch(pushAll([{ rows: many(0, 999) }]))).toBe(false)
    expect(isTooMuch(pushAll([{ rows: many(0, 999) }, { rows: many(999, 1) }]))).toBe(true)
    const held = pushAll([{ rows: many(0, 1100), held: true }])
    expect(isTooMuch(held)).toBe(false)
    expect(held.waiting).toHaveLength(1000)
    expect(isTooMuch(push(held, 'release'))).toBe(true)
  })
})

it('what one looks on for is new, and no more of it than an eye follows', () => {
  const rows = Array.from({ length: 60 }, (_, place) => begun(`r${place}`))
  const fresh = freshOf(rows, new Set(['r1', 'r55']))
  expect([...fresh].slice(0, 2)).toEqual(['r0', 'r2'])
  expect(fresh.size).toBe(49)
})

it('a list is followed with its filters and without its times, from the beginning of each request', () => {
  const list = { since: '1h', until: '2026-03-01', before: 'req_1', limit: 100, model: 'gpt', errors: true }
  expect(tailOf(list)).toEqual({ model: 'gpt', errors: true, allStates: true })
})
