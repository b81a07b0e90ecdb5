import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findLost, SeenMarks } from '../../src/cluster/lost-changes.ts'
import type { RowChange, SharedRow } from '../../src/store/replica/replica-types.ts'

const row = (name: string, key: string, value: object | null) => ({
  name,
  key: JSON.stringify([key]),
  row: value === null ? null : JSON.stringify(value),
})

describe('what a standby that took over had not got', () => {
  it.each([
    ['nothing', [row('projects', 'a', { id: 'a' })], [row('projects', 'a', { id: 'a' })], []],
    ['a row that was made', [row('projects', 'a', { id: 'a' })], [], ['put projects ["a"] {"id":"a"}']],
    [
      'a row that was made again',
      [row('projects', 'a', { id: 'a' })],
      [row('projects', 'a', null)],
      ['put projects ["a"] {"id":"a"}'],
    ],
    [
      'a row that was changed',
      [row('projects', 'a', { id: 'a', name: 'new' })],
      [row('projects', 'a', { id: 'a', name: 'old' })],
      ['set projects ["a"] {"id":"a","name":"new"}'],
    ],
    ['a row that was removed', [], [row('projects', 'a', { id: 'a' })], ['drop projects ["a"] null']],
    [
      'nothing of what only a newer version knows',
      [row('projects', 'a', { id: 'a' })],
      [row('projects', 'a', { id: 'a', newer: 1 }), row('newer', 'a', {})],
      [],
    ],
    [
      'nothing of what each node finds for itself',
      [row('keys', 'a', { id: 'a', last_used_at: 'now', version: 3 })],
      [row('keys', 'a', { id: 'a', last_used_at: null, version: 1 })],
      [],
    ],
    ['no line of the audit trail', [], [row('audit', '7', { sequence: 7 })], []],
  ])('%s', (_, own, there, changes) => {
    const found = findLost(own, there).map(
      ({ op, name, key, patch }) => `${op} ${name} ${key} ${JSON.stringify(patch)}`,
    )
    expect(found).toEqual(changes)
  })
})

/** As PostgreSQL makes them, of rows as it has them. */
function restored(there: readonly SharedRow[], changes: readonly RowChange[]): SharedRow[] {
  const rows = new Map(there.map((each) => [`${each.name} ${each.key}`, each]))
  for (const { name, key, op, patch } of changes) {
    const before = JSON.parse(rows.get(`${name} ${key}`)?.row ?? '{}')
    rows.set(`${name} ${key}`, { name, key, row: op === 'drop' ? null : JSON.stringify({ ...before, ...patch }) })
  }
  return [...rows.values()]
}

const column = fc.option(fc.constantFrom('a', 'b', 1))
const rowsOf = <Columns>(columns: fc.Arbitrary<Columns>) =>
  fc.uniqueArray(
    fc.tuple(fc.constantFrom('projects', 'policies', 'routes'), fc.constantFrom('a', 'b', 'c', '["a"]'), columns),
    { selector: ([name, key]) => `${name} ${key}` },
  )
const own = rowsOf(fc.record({ id: column, name: column }))
const there = rowsOf(fc.option(fc.record({ id: column, name: column, newer: column }), { nil: undefined }))
const asRows = (list: [string, string, object | undefined][]) =>
  list.map(([name, key, value]) => row(name, key, value ?? null))

describe('whatever a standby has', () => {
  it('is what the node has once its changes are made, and then nothing is lost any more', () => {
    fc.assert(
      fc.property(own, there, (mine, found) => {
        const after = restored(asRows(found), findLost(asRows(mine), asRows(found)))
        expect(findLost(asRows(mine), after)).toEqual([])
        const known = after.flatMap(({ name, key, row: text }) => {
          if (text === null) return []
          const { newer: _, ...columns } = JSON.parse(text)
          return [`${name} ${key} ${JSON.stringify(Object.entries(columns).sort())}`]
        })
        const wanted = mine.map(([name, key, value]) => {
          return `${name} ${JSON.stringify([key])} ${JSON.stringify(Object.entries(value).sort())}`
        })
        expect(known.sort()).toEqual(wanted.sort())
      }),
      { numRuns: 300 },
    )
  })

  it('keeps what only a newer version has put there', () => {
    fc.assert(
      fc.property(own, there, (mine, found) => {
        const after = restored(asRows(found), findLost(asRows(mine), asRows(found)))
        for (const { name, key, row: text } of after) {
          const before = asRows(found).find((each) => each.name === name && each.key === key)?.row ?? null
          if (text !== null && before !== null) expect(JSON.parse(text).newer).toEqual(JSON.parse(before).newer)
        }
      }),
    )
  })
})

describe('the marks that a node has seen', () => {
  it('tell what came after, in order, and what is another history', () => {
    const seen = new SeenMarks()
    seen.note([[3, 'c']])
    seen.note([
      [5, 'e'],
      [4, 'd'],
    ])
    expect(seen.has(3, 'c')).toBe(true)
    expect([seen.has(3, 'x'), seen.has(2, 'b'), seen.has(3, null)]).toEqual([false, false, false])
    expect(seen.between(3, 5)).toEqual([
      [4, 'd'],
      [5, 'e'],
    ])
  })

  it('are forgotten when they are many, the oldest first', () => {
    const seen = new SeenMarks()
    for (let number = 1; number <= 1500; number++) seen.note([[number, `m${number}`]])
    expect([seen.has(500, 'm500'), seen.has(501, 'm501')]).toEqual([false, true])
  })
})
