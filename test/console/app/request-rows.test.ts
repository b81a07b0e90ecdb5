import { describe, expect, it } from 'vitest'
import { joinRows, type Pushed, push } from '../../../src/console/app/areas/requests/request-rows.ts'
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

  it('do not bring back to life what was read after its end', () => {
    expect(inWords(joinRows([begun('a')], [[ended('a')]]))).toEqual(['a settled'])
  })
})
