import { setTimeout as wait } from 'node:timers/promises'
import { chooseStep } from '../../src/admin/handlers/requests/request-series.ts'
import type { RecordFilter, StatsBy, StoreClient } from '../../src/store/api.ts'
import { rare } from './piece.ts'

const dayMs = 86_400_000

export interface Reading {
  name: string
  /** Milliseconds. */
  took: number
  /** Of the process, of which all but the store's thread waits. */
  cpu: number
  most: number
  note?: string
}

/** A gateway's own tables, or what a node reads of PostgreSQL. */
export interface Store {
  records: Pick<StoreClient['records'], 'list' | 'search' | 'get' | 'stats' | 'series'>
}

/** The slowest of three counts, which is what somebody waits who asks once. */
export async function readAll(store: Store, days: number): Promise<Reading[]> {
  const found: Reading[] = []
  const [one] = await store.records.list({ limit: 1, until: new Date(Date.now() - 20 * dayMs).toISOString() })
  for (const { name, most, read } of readings(store, days, one?.id ?? '')) {
    let took = 0
    let cpu = 0
    let note = ''
    for (let round = 0; round < 3; round++) {
      const before = process.cpuUsage()
      const begun = performance.now()
      note = (await read()) ?? ''
      took = Math.max(took, performance.now() - begun)
      const { user, system } = process.cpuUsage(before)
      cpu = Math.max(cpu, (user + system) / 1000)
      await wait(50)
    }
    found.push({ name, most, took, cpu, ...(note === '' ? {} : { note }) })
  }
  return found
}

type Read = () => Promise<string | undefined>

function readings(store: Store, days: number, id: string): { name: string; most: number; read: Read }[] {
  const search =
    (filter: Partial<RecordFilter>): Read =>
    async () => {
      const page = await store.records.search({ limit: 50, ...filter }, 200)
      const reached = page.searchedUntil === null ? 'whole' : `searched back to ${page.searchedUntil}`
      return `${page.records.length} found, ${reached}`
    }
  const stats =
    (since: number, by: StatsBy | StatsBy[], filter: Partial<RecordFilter> = {}): Read =>
    async () => {
      const from = new Date(Date.now() - since).toISOString()
      const rows = await store.records.stats({ limit: 1, since: from, ...filter }, by)
      return `${rows.reduce((sum, { requests }) => sum + requests, 0)} requests in ${rows.length} groups`
    }
  const list = (name: string, filter: Partial<RecordFilter>) => ({ name, most: 300, read: search(filter) })
  const sum = (name: string, read: Read) => ({ name, most: 1000, read })
  return [
    { name: 'one record', most: 20, read: oneRecord(store, id) },
    list('page: newest', {}),
    list('page of a project', { project: 'project-3' }),
    list('page of a key', { key: 'ci-2' }),
    list('page of a model', { model: 'gpt-4o' }),
    list('page of a provider', { provider: 'azure' }),
    list('page of a status', { status: '429' }),
    list('page of a status class', { status: '5xx' }),
    list('page of an error', { error: 'policy_denied' }),
    list('page of a lane', { lane: 'gemini' }),
    list('page of a project that occurs once', { project: rare.project }),
    list('page of a key that occurs once', { key: rare.key }),
    list('page of a model that occurs once', { model: rare.model }),
    list('page of a provider that occurs once', { provider: rare.provider }),
    list('page of a status that occurs once', { status: String(rare.status) }),
    list('page of an error that occurs once', { error: rare.error }),
    list('page of a status that none has', { status: '451' }),
    list('page of a key and an error', { key: 'batch-1', error: 'provider_timeout' }),
    list('page of a tag (partial)', { tags: { team: 'search' } }),
    list('page of a tag that occurs once (partial)', { tags: { once: 'yes' } }),
    list('page of a route (partial)', { route: 'none' }),
    list('page of what took long (partial)', { slowerThanMs: 3_600_000 }),
    list('page of a part of an id (partial)', { id: 'zzzzzz' }),
    sum('statistics of a day', stats(dayMs, 'total')),
    sum('statistics of a day by key and model', stats(dayMs, ['key', 'model'])),
    sum('statistics of a day by tag', stats(dayMs, 'tag')),
    sum(`statistics of ${days} days`, stats(days * dayMs, 'total')),
    sum(`statistics of ${days} days by model`, stats(days * dayMs, 'model')),
    sum(`statistics of ${days} days by key and model`, stats(days * dayMs, ['key', 'model'])),
    sum(`statistics of ${days} days by project and day`, stats(days * dayMs, ['project', 'day'])),
    sum(`statistics of ${days} days by status`, stats(days * dayMs, 'status')),
    sum(`statistics of ${days} days by error`, stats(days * dayMs, 'error')),
    sum(`statistics of ${days} days by tag`, stats(days * dayMs, 'tag')),
    sum(`statistics of ${days} days by tag and day`, stats(days * dayMs, ['tag', 'day'])),
    sum(`statistics of ${days} days of one project by tag`, stats(days * dayMs, 'tag', { project: 'project-3' })),
    sum(`statistics of ${days} days of one key`, stats(days * dayMs, 'total', { key: 'ci-2' })),
    sum('chart of 30 days by model', series(store, 30)),
  ]
}

function oneRecord(store: Store, id: string): Read {
  return async () => {
    await store.records.get(id)
    return undefined
  }
}

function series(store: Store, days: number): Read {
  return async () => {
    const stepMs = chooseStep(days * dayMs)
    const from = Math.floor((Date.now() - days * dayMs) / stepMs) * stepMs
    const since = new Date(from).toISOString()
    const groups = await store.records.series(
      { limit: 1, since },
      { by: 'model', from, stepMs, steps: Math.ceil((days * dayMs) / stepMs) + 1, most: 8 },
    )
    return `${groups.length} groups`
  }
}
