import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import type { RecordFilter, SeriesQuestion, StoreClient } from '../../src/store/api.ts'
import { startStore } from '../../src/store/client.ts'

/**
 * What readings of records cost, and how long another call has to wait meanwhile: `node scripts/bench/readings.ts DIR`
 * on a data directory that no gateway uses, such as `scripts/fill-records.ts` makes.
 */
const { positionals } = parseArgs({ allowPositionals: true })
const directory = positionals[0]
if (directory === undefined) throw new Error('name a data directory')
const rounds = 4
const hourMs = 3_600_000

function series(store: StoreClient, hours: number, by: SeriesQuestion['by']): () => Promise<unknown> {
  const steps = 60
  const from = Date.now() - hours * hourMs
  const question = { by, from, stepMs: (hours * hourMs) / steps, steps, most: 8 }
  return () => store.records.series({ limit: 1, since: new Date(from).toISOString() }, question)
}

function readings(store: StoreClient): Record<string, () => Promise<unknown>> {
  const list = (filter: Partial<RecordFilter>) => () => store.records.list({ limit: 50, ...filter })
  const stats =
    (by: Parameters<StoreClient['records']['stats']>[1], filter: Partial<RecordFilter> = {}) =>
    () =>
      store.records.stats({ limit: 1, ...filter }, by)
  return {
    'list, newest 50': list({}),
    'list of a key': list({ key: 'ci' }),
    'list of a model and a state': list({ model: 'gpt-4o', state: 'interrupted' }),
    'list of an error': list({ error: 'policy_denied' }),
    'list of a status class': list({ status: '4xx' }),
    'list of a status that none has': list({ status: '418' }),
    'list of a tag': list({ tags: { team: 'search' } }),
    'list of a tag that none has': list({ tags: { team: 'nobody' } }),
    'list of a part of an id': list({ id: 'zzzzzz' }),
    'stats, total': stats('total'),
    'stats by model': stats('model'),
    'stats by tag': stats('tag'),
    'stats of a key': stats('total', { key: 'ci' }),
    'series of 7 days': series(store, 168, 'total'),
    'series of 7 days by model': series(store, 168, 'model'),
    'series of 7 days by tag': series(store, 168, 'tag'),
    'series of 24 hours': series(store, 24, 'total'),
    'series of 24 hours by model': series(store, 24, 'model'),
    'targets of a route, 7 days': () => store.records.targets({ limit: 1, route: 'gpt-4o*' }, []),
  }
}

/** The longest wait of calls that are made one after the other while `read` runs: milliseconds. */
async function measure(store: StoreClient, read: () => Promise<unknown>): Promise<{ took: number; waited: number }> {
  let over = false
  let waited = 0
  const asking = (async () => {
    while (!over) {
      const begun = performance.now()
      await store.projects.list()
      waited = Math.max(waited, performance.now() - begun)
    }
  })()
  const begun = performance.now()
  await read()
  const took = performance.now() - begun
  over = true
  await asking
  return { took, waited }
}

const workerData = {
  databasePath: join(directory, 'spgw.db'),
  journalDirectory: join(directory, 'journal'),
  boot: 'readings',
}
const worker = new Worker(new URL('../../src/store/thread.ts', import.meta.url), { workerData })
const store = await startStore(() => worker)
try {
  for (const [name, read] of Object.entries(readings(store))) {
    const found = []
    for (let round = 0; round < rounds; round++) found.push(await measure(store, read))
    const before = await worker.cpuUsage()
    await read()
    const { user, system } = await worker.cpuUsage(before)
    const took = Math.min(...found.map((one) => one.took))
    const waited = Math.min(...found.map((one) => one.waited))
    const figures = [(user + system) / 1000, took, waited].map((figure) => figure.toFixed(1).padStart(7))
    process.stdout.write(
      `${name.padEnd(32)} ${figures[0]} ms of the store thread, ${figures[1]} ms, another call waits ${figures[2]} ms\n`,
    )
  }
} finally {
  await store.close()
}
