import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { alertsTable } from '../../src/store/alerts/alerts.ts'
import type { Alert, AlertDelivery, Tables } from '../../src/store/api.ts'
import type { OpenStore } from '../../src/store/sqlite/open.ts'
import { openTestStore } from '../support/empty-database.ts'
import { storePaths, temporaryDirectory } from './support.ts'

const noon = '2026-03-10T12:00:00.000Z'
const later = '2026-03-10T13:00:00.000Z'

let store: OpenStore
let alerts: Tables['alerts']
let numbers = 0

beforeEach(async () => {
  store = await openTestStore(storePaths(temporaryDirectory()).databasePath)
  alerts = alertsTable(store.connection.db)
})
afterEach(async () => await store.close())

async function add(name: string, change: Partial<Alert> = {}): Promise<Alert> {
  return await alerts.insert({
    ...{ id: `alr_${name}`, name, shownUrl: `https://${name}.example`, format: 'webhook', events: ['budget'] },
    ...{ active: true, sealed: `sealed ${name}`, createdAt: noon },
    ...change,
  })
}

function delivery(alertId: string, change: Partial<AlertDelivery> = {}): AlertDelivery {
  const data = { resource: 'disk', scope: null, percent: 9, text: 'The disk has 9% free.' }
  return {
    ...{ id: `msg_${String(++numbers).padStart(5, '0')}`, alertId, state: 'pending', tries: 0, createdAt: noon },
    ...{
      message: { type: 'disk.low', timestamp: noon, data },
      nextAt: noon,
      endedAt: null,
      status: null,
      reason: null,
    },
    ...change,
  }
}

const failed = {
  state: 'failed',
  tries: 8,
  nextAt: null,
  endedAt: noon,
  status: 500,
  reason: 'it answered 500',
} as const
const idsOf = (found: readonly AlertDelivery[]) => found.map(({ id }) => id)

describe('what is reported', () => {
  it('is known by each alert for itself, until it is over', async () => {
    const [one, other] = [await add('one'), await add('other')]
    const raised = { time: noon, ended: [], deliveries: [] }
    await alerts.raise(one.id, { ...raised, crossed: ['disk', 'errors'] })
    await alerts.raise(other.id, { ...raised, crossed: ['disk'] })
    await alerts.raise(one.id, { ...raised, crossed: ['disk'], ended: ['errors'] })
    const known = await alerts.crossings()
    expect(known.map(({ alertId, crossing }) => `${alertId} ${crossing}`).sort()).toEqual([
      ...['alr_one disk', 'alr_other disk'],
    ])
  })

  it('is not of an alert that was removed meanwhile', async () => {
    const { id } = await add('one')
    await alerts.remove(id)
    await alerts.raise(id, { time: noon, crossed: ['disk'], ended: [], deliveries: [delivery(id)] })
    expect([await alerts.crossings(), await alerts.deliveries(null, 10)]).toEqual([[], []])
  })

  it('goes with its alert, and what waits with it', async () => {
    const { id } = await add('one')
    await alerts.raise(id, { time: noon, crossed: ['disk'], ended: [], deliveries: [delivery(id)] })
    await alerts.remove(id)
    expect([await alerts.crossings(), await alerts.due(later)]).toEqual([[], []])
  })

  it('is forgotten when it is old, but for what holds and what still waits', async () => {
    const { id } = await add('one')
    const [waiting, done] = [delivery(id), delivery(id, failed)]
    await alerts.raise(id, { time: noon, crossed: ['disk', 'errors'], ended: [], deliveries: [waiting, done] })
    await alerts.forget(noon, [])
    expect(await alerts.crossings()).toHaveLength(2)
    await alerts.forget(later, ['disk'])
    expect(await alerts.crossings()).toEqual([{ alertId: id, crossing: 'disk' }])
    expect(idsOf(await alerts.deliveries(id, 10))).toEqual([waiting.id])
  })
})

describe('what is due', () => {
  it('is what waits no longer than until then, the oldest first, of alerts that are active', async () => {
    const [one, off] = [await add('one'), await add('off', { active: false })]
    const [second, first] = [
      delivery(one.id, { nextAt: noon }),
      delivery(one.id, { nextAt: '2026-03-10T11:00:00.000Z' }),
    ]
    const others = [delivery(one.id, { nextAt: later }), delivery(one.id, failed), delivery(off.id)]
    for (const each of [second, first, ...others]) await alerts.queue(each)
    expect(idsOf(await alerts.due(noon))).toEqual([first.id, second.id])
    await alerts.update(off.id, { active: true })
    expect(await alerts.due(noon)).toHaveLength(3)
  })

  it('to one receiver is never kept back by all that waits for another', async () => {
    const [down, well] = [await add('down'), await add('well')]
    for (let time = 0; time < 120; time++) await alerts.queue(delivery(down.id, { nextAt: '2026-03-10T10:00:00.000Z' }))
    const last = delivery(well.id)
    await alerts.queue(last)
    const due = await alerts.due(noon)
    expect(idsOf(due)).toContain(last.id)
    expect(due).toHaveLength(101)
  })
})

describe('a delivery', () => {
  it('has what came of its tries, until it is over', async () => {
    const { id } = await add('one')
    const sent = await alerts.queue(delivery(id))
    const tried = { tries: 1, nextAt: later, endedAt: null, status: 503, reason: 'it answered 503' }
    await alerts.noteTry(sent.id, { state: 'pending', ...tried })
    expect(await alerts.delivery(sent.id)).toEqual({ ...sent, ...tried })
    const done = { state: 'delivered', tries: 2, nextAt: null, endedAt: later, status: 200, reason: null } as const
    await alerts.noteTry(sent.id, done)
    await alerts.noteTry(sent.id, { state: 'pending', ...tried })
    expect(await alerts.delivery(sent.id)).toEqual({ ...sent, ...done })
  })

  it('that is sent again is due at once, and keeps count of its tries', async () => {
    const { id } = await add('one')
    const sent = await alerts.queue(delivery(id, failed))
    const again = { state: 'pending', nextAt: later, endedAt: null } as const
    expect(await alerts.retry(sent.id, later)).toEqual({ ...sent, ...again })
    expect(await alerts.due(later)).toEqual([{ ...sent, ...again }])
    await expect(alerts.retry('msg_none', later)).rejects.toThrow(/./)
  })

  it('stands in the log of its alert, the newest first', async () => {
    const [one, other] = [await add('one'), await add('other')]
    const all = [delivery(one.id), delivery(other.id), delivery(one.id)]
    for (const each of all) await alerts.queue(each)
    const [first, second, third] = idsOf(all)
    expect(idsOf(await alerts.deliveries(null, 2))).toEqual([third, second])
    expect(idsOf(await alerts.deliveries(one.id, 10))).toEqual([third, first])
  })
})

describe('an alert', () => {
  it('is found by id and name, and its name is its own', async () => {
    const one = await add('one')
    await add('other')
    expect([await alerts.find('one'), await alerts.find(one.id), await alerts.find('none')]).toEqual([one, one, null])
    await expect(add('one', { id: 'alr_third' })).rejects.toThrow(/one/)
    await expect(alerts.update(one.id, { name: 'other' })).rejects.toThrow(/other/)
    expect(await alerts.update(one.id, { name: 'one', active: false })).toMatchObject({ name: 'one', active: false })
    expect((await alerts.list()).map(({ name }) => name)).toEqual(['one', 'other'])
  })
})
