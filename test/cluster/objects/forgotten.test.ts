import type pg from 'pg'
import { beforeEach, describe, expect, it } from 'vitest'
import { ForgottenFeed } from '../../../src/cluster/objects/forgotten.ts'

interface ForgottenRow {
  number: number
  time: number
}

/** As much of PostgreSQL: rows that were committed, its clock, and what the statement asks of both. */
class Table {
  now = Date.parse('2026-11-27T12:00:00Z')
  rows: ForgottenRow[] = []
  #number = 0

  forget(count = 1): void {
    for (let left = count; left > 0; left--) this.rows.push(this.begin())
  }

  /** Of a transaction that has not ended: it has its number and its time already. */
  begin(): ForgottenRow {
    return { number: ++this.#number, time: this.now }
  }

  readonly query = async (_text: string, [since = null, last = null]: (Date | string | null)[]) => {
    const isAsked = ({ number, time }: ForgottenRow) =>
      !(since instanceof Date) || time > since.getTime() - 30_000 || (last !== null && number > Number(last))
    const row = ({ number }: ForgottenRow) => ({
      ...{ number: String(number), now: new Date(this.now), id: `object ${number}`, type: 'file', until: '' },
      ...{ providerId: 'prv_1', credentialId: '', projectId: 'prj_1', environmentId: 'env_1' },
    })
    return {
      rows: this.rows
        .filter(isAsked)
        .sort((one, other) => one.number - other.number)
        .map(row),
    }
  }
}

let table: Table
let feed: ForgottenFeed
beforeEach(() => {
  table = new Table()
  feed = new ForgottenFeed()
})

const read = async () => (await feed.read(table as Pick<Table, 'query'> as pg.Client)).map(({ id }) => id)
const objects = (...numbers: number[]) => numbers.map((number) => `object ${number}`)

describe('what nodes have forgotten', () => {
  it('comes whole after a start, and then each once', async () => {
    table.forget(2)
    table.now += 3_600_000
    expect(await read()).toEqual(objects(1, 2))
    expect(await read()).toEqual([])
    table.forget()
    expect(await read()).toEqual(objects(3))
    for (let minute = 0; minute < 3; minute++) {
      table.now += 60_000
      expect(await read()).toEqual([])
    }
    table.forget(2)
    expect(await read()).toEqual(objects(4, 5))
  })

  it('comes also of a transaction that ended after later ones', async () => {
    const late = table.begin()
    table.now += 10_000
    table.forget()
    expect(await read()).toEqual(objects(2))
    table.rows.push(late)
    table.now += 10_000
    expect(await read()).toEqual(objects(1))
    expect(await read()).toEqual([])
  })

  // Of a standby that took over, or of a clock that was set right.
  it('comes also from a server whose clock is behind, each once', async () => {
    table.forget()
    expect(await read()).toEqual(objects(1))
    table.now -= 600_000
    table.forget()
    expect(await read()).toEqual(objects(2))
    table.now += 1000
    table.forget()
    expect(await read()).toEqual(objects(3))
    table.now += 3_600_000
    expect(await read()).toEqual([])
    table.forget()
    expect(await read()).toEqual(objects(4))
  })

  it('has no credential where the object was of none', async () => {
    table.forget()
    const [first] = await feed.read(table as Pick<Table, 'query'> as pg.Client)
    expect(first).toEqual({
      ...{ id: 'object 1', type: 'file', until: '', providerId: 'prv_1', credentialId: null },
      ...{ projectId: 'prj_1', environmentId: 'env_1' },
    })
  })
})
