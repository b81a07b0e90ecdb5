import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { Conditions } from '../../src/cluster/conditions.ts'
import { sayWhy } from '../../src/cluster/troubles.ts'
import type { NodeCondition } from '../../src/core/node-condition.ts'

const a1 = { member: 'nod_a', incarnation: 'a1' }
const b1 = { member: 'nod_b', incarnation: 'b1' }

const condition = (version: string) => ({ version }) as object as NodeCondition

/** As much of PostgreSQL: whether it has the table, and what is in it. */
class Tables {
  hasSchema = true
  failure: Error | null = null
  readonly rows = new Map<string, string>()
  readonly asked: string[] = []
  /** Who runs as which node. */
  readonly incarnations = new Map([a1, b1].map(({ member, incarnation }) => [member, incarnation]))
  /** By how much its clock is ahead. */
  ahead = 0

  readonly query = async (text: string, values: string[] = []) => {
    this.asked.push(text.trim().split(/\s+/).slice(0, 3).join(' '))
    if (this.failure !== null) throw this.failure
    if (text.includes('spgw.head')) return { rows: [{ found: this.hasSchema }] }
    if (text.includes("to_regclass('spgw.parts')")) return { rows: [{ found: true }] }
    if (text.startsWith('select level')) return { rows: [{ level: 99 }] }
    const [member = '', own = '', incarnation = ''] = values
    if (text.startsWith('insert into spgw.conditions')) {
      if (!text.includes('incarnation = $3') || this.incarnations.get(member) !== incarnation) return { rows: [] }
      this.rows.set(member, own)
      return { rows: [{ now: String(Date.now() + this.ahead) }] }
    }
    return { rows: [...this.rows].map(([id, text]) => ({ member: id, condition: text })) }
  }

  get client(): pg.Client {
    return this as Pick<Tables, 'query'> as object as pg.Client
  }
}

describe('how nodes are', () => {
  it('is said by each, and read of all', async () => {
    const tables = new Tables()
    const [a, b] = [new Conditions(), new Conditions()]
    a.set(condition('1'))
    expect(await a.exchange(tables.client, a1)).toEqual({ nod_a: condition('1') })
    // One that has not looked at itself yet says nothing, and hears the others.
    expect(await b.exchange(tables.client, b1)).toEqual({ nod_a: condition('1') })
    a.set(condition('2'))
    b.set(condition('3'))
    await b.exchange(tables.client, b1)
    expect(await a.exchange(tables.client, a1)).toMatchObject({ nod_a: condition('2'), nod_b: condition('3') })
  })

  it('is read at once by all where a node goes out of service, and comes back', async () => {
    const tables = new Tables()
    const conditions = new Conditions()
    const notified = () => tables.asked.filter((text) => text.startsWith('select pg_notify')).length
    for (const [draining, isNews] of [
      [false, true],
      [false, false],
      [true, true],
      [true, false],
      [false, true],
    ] as const) {
      const before = notified()
      expect(conditions.set({ ...condition('1'), draining })).toBe(isNews)
      await conditions.exchange(tables.client, a1)
      expect(notified() - before).toBe(isNews ? 1 : 0)
    }
  })

  it('has how far its clock is from that of PostgreSQL, from the second time on', async () => {
    const tables = new Tables()
    tables.ahead = -3_600_000
    const conditions = new Conditions()
    conditions.set(condition('1'))
    expect(await conditions.exchange(tables.client, a1)).toEqual({ nod_a: condition('1') })
    const { nod_a } = await conditions.exchange(tables.client, a1)
    expect(Math.round((nod_a?.clockAheadMs ?? 0) / 60_000)).toBe(60)
  })

  it('is not said by a gateway that runs besides from a copy of the data of a node', async () => {
    const tables = new Tables()
    const [real, copy] = [new Conditions(), new Conditions()]
    real.set(condition('1'))
    copy.set(condition('2'))
    await real.exchange(tables.client, a1)
    expect(await copy.exchange(tables.client, { ...a1, incarnation: 'a0' })).toEqual({ nod_a: condition('1') })
    expect([...tables.rows.values()]).toEqual([JSON.stringify(condition('1'))])
  })

  it('is nothing before the cluster has a table for it, which is looked for until it is there', async () => {
    const tables = new Tables()
    tables.hasSchema = false
    const conditions = new Conditions()
    conditions.set(condition('1'))
    expect(await conditions.exchange(tables.client, a1)).toEqual({})
    expect([...tables.rows]).toEqual([])
    tables.hasSchema = true
    expect(await conditions.exchange(tables.client, a1)).toEqual({ nod_a: condition('1') })
    const asked = tables.asked.length
    await conditions.exchange(tables.client, a1)
    expect(tables.asked.slice(asked)).toEqual(['insert into spgw.conditions', 'select member, condition'])
  })

  it('is said again after PostgreSQL was away', async () => {
    const tables = new Tables()
    const conditions = new Conditions()
    conditions.set(condition('1'))
    tables.failure = new Error('connection lost')
    await expect(conditions.exchange(tables.client, a1)).rejects.toThrow('connection lost')
    tables.failure = null
    expect(await conditions.exchange(tables.client, a1)).toEqual({ nod_a: condition('1') })
  })
})

it.each([
  ['removed', 'this node was removed from the cluster'],
  ['lost', 'PostgreSQL has lost changes that this node holds: it is at 3, and this node at 7; see docs/cluster.md'],
  ['doubled', 'another gateway runs as this node'],
  ['taken name', 'the cluster has another node gw-a'],
  ['newer', 'the cluster belongs to a newer version of spgw'],
  ['other cluster', 'the database does not hold the cluster that this node is a member of'],
])('a node that PostgreSQL finds %s is cut off because %s', (state, reason) => {
  expect(sayWhy(state, 'gw-a', 7, 3)).toContain(reason)
})
