import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addFull, addPlain, SqlCondition } from '../../../src/cluster/readings/condition.ts'
import type { RecordFilter } from '../../../src/store/api.ts'

/** What a client, or whoever can write into a database, would like to be read as SQL. */
const text = fc.oneof(
  fc.constantFrom("'", "';--", '$1', '$$', '"', '\\', '%', 'a b', '?', 'null', "x' or 'a'='a"),
  fc.string({ maxLength: 12 }),
)
const moment = fc.constantFrom('2026-03-01T12:00:00Z', '2026-03-02T00:00:00.000Z')
const filter = fc.record(
  {
    ...{ project: text, environment: text, model: text, provider: text, node: text, key: text, error: text },
    ...{ status: fc.constantFrom('200', '4xx'), errors: fc.boolean(), fellBack: fc.boolean(), failedAt: text },
    ...{ route: text, tags: fc.dictionary(text, fc.option(text), { maxKeys: 3 }), slowerThanMs: fc.nat(9999) },
    ...{ since: moment, until: moment, before: text, id: text },
    names: fc.array(fc.record({ name: text, since: fc.constantFrom('', '2026-03-01'), until: fc.option(moment) })),
  },
  { requiredKeys: [] },
)

const written = (given: object) => {
  const condition = new SqlCondition()
  addFull(condition, given as RecordFilter)
  return condition
}

const constants = ["''", `'"outcome":"fell_back"'`, "'tags'", String.raw`'\u0000'`, String.raw`'\ufffd'`]

describe('a question to PostgreSQL', () => {
  it('has each of its values once, in the order of their numbers, and none of them in its text', () => {
    fc.assert(
      fc.property(filter, (given) => {
        const { text: sql, values } = written(given)
        const numbers = [...sql.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number))
        expect([...new Set(numbers)].sort((one, other) => one - other)).toEqual(values.map((_, place) => place + 1))
        // All that is quoted there is of this program.
        const quoted = new Set(sql.match(/'[^']*'/g))
        expect([...quoted].filter((each) => !constants.includes(each))).toEqual([])
        expect(sql.match(/\(/g)?.length ?? 0).toBe(sql.match(/\)/g)?.length ?? 0)
      }),
      { numRuns: 300 },
    )
  })

  it('that asks for nothing is true, and of no name is false', () => {
    expect(written({})).toMatchObject({ text: 'true', values: [] })
    expect(written({ errors: false, fellBack: false, tags: {} })).toMatchObject({ text: 'true', values: [] })
    expect(written({ names: [] }).text).toBe('(false)')
  })

  it('asks of sums only what sums know', () => {
    const plain = new SqlCondition()
    addPlain(plain, { key: 'ci', tags: { a: 'b' }, route: 'm', id: 'x', since: '2026-03-01T12:00:00Z', limit: 1 })
    expect(plain).toMatchObject({ text: '(key_id = $1 or key_name = $1)', values: ['ci'] })
  })

  it.each<[object, string, unknown[]]>([
    [{ status: '4xx' }, '(status between $1 and $2)', [400, 499]],
    [{ status: '200' }, '(status between $1 and $2)', [200, 200]],
    [{ slowerThanMs: 0 }, '(duration_ms >= $1)', [0]],
    [{ id: 'AbC' }, '(strpos(id, $1) > 0)', ['abc']],
    [{ before: 'req_1' }, '(id < $1)', ['req_1']],
    [
      {
        names: [
          { name: 'a', since: '', until: null },
          { name: 'b', since: '2026', until: '2027' },
        ],
      },
      '((project = $1) or (project = $2 and time >= $3 and time < $4))',
      ['a', 'b', '2026', '2027'],
    ],
  ])('for %j is %s', (given, sql, values) => {
    expect(written(given)).toMatchObject({ text: sql, values })
  })

  it('looks for a tag of a name alone, or with its value', () => {
    expect(written({ tags: { team: null } }).values).toEqual(['team', '"team":'])
    expect(written({ tags: { team: 'a' } }).values).toEqual(['{"team":"a"}', '"team":"a"'])
  })
})
