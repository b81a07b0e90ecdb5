import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { TrafficMetrics } from '../../src/console/traffic-metrics.ts'
import { formatSegmentName, segmentBytes } from '../../src/core/journal-format.ts'
import type { StoreClient } from '../../src/store/api.ts'
import { startStore } from '../../src/store/client.ts'
import { encodeEntry, sampleRecord } from './sample-entries.ts'

/**
 * What it costs to bring records from the journal into the store, per request: `node scripts/bench/ingestion.ts`.
 * `--rate` requests a pass (a fifth of a second's worth), `--slow` settles each in the pass after it was admitted,
 * as long answers do; `--records` in all.
 */
const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '60000' },
    rate: { type: 'string', default: '1200' },
    slow: { type: 'boolean', default: false },
    reads: { type: 'boolean', default: false },
    idle: { type: 'boolean', default: false },
  },
})
const inFlight = 32

/** Segments as one data-plane thread writes them. */
class SegmentWriter {
  readonly #directory: string
  #sequence = 0
  #file = -1
  #position = 0

  constructor(directory: string) {
    this.#directory = directory
    this.#next()
  }

  write(bytes: Buffer): void {
    if (this.#position + bytes.length > segmentBytes) this.#next()
    writeSync(this.#file, bytes, 0, bytes.length, this.#position)
    this.#position += bytes.length
  }

  #next(): void {
    if (this.#file !== -1) closeSync(this.#file)
    const name = formatSegmentName({ boot: 'bench', thread: 0, sequence: this.#sequence++ })
    this.#file = openSync(join(this.#directory, name), 'wx', 0o600)
    writeSync(this.#file, Buffer.alloc(segmentBytes), 0, segmentBytes, 0)
    this.#position = 0
  }
}

/** Entries of one pass, joined to writes of about the size that the journal makes of a turn. */
function makeWrites(from: number, count: number, lag: number, total: number): Buffer[] {
  const writes: Buffer[] = []
  for (let index = from; index < from + count; index++) {
    const entries: Buffer[] = []
    if (index < total) entries.push(encodeEntry('admitted', records(index)))
    const ended = index - lag
    if (ended >= 0 && ended < total) entries.push(encodeEntry('settled', records(ended)))
    if (entries.length > 0) writes.push(Buffer.concat(entries))
  }
  return writes
}

const made = new Map<number, ReturnType<typeof sampleRecord>>()
function records(index: number): ReturnType<typeof sampleRecord> {
  const found = made.get(index) ?? sampleRecord(index)
  if (made.has(index)) made.delete(index)
  else made.set(index, found)
  return found
}

async function measureIngestion(store: StoreClient, worker: Worker, directory: string): Promise<void> {
  const [total, rate] = [Number(values.records), Number(values.rate)]
  const lag = values.slow ? rate : inFlight
  const writer = new SegmentWriter(directory)
  const sums = { store: 0, main: 0, process: 0, longest: 0, changed: 0, measured: 0 }
  for (let from = 0; from < total + lag; from += rate) {
    const writes = makeWrites(from, rate, lag, total)
    for (const bytes of writes) writer.write(bytes)
    // The first passes compile.
    const counted = from >= total / 5
    const before = [process.cpuUsage(), process.threadCpuUsage(), await worker.cpuUsage()] as const
    const begun = performance.now()
    const changed = await store.ingest()
    const took = performance.now() - begun
    const [all, main, own] = [
      process.cpuUsage(before[0]),
      process.threadCpuUsage(before[1]),
      await worker.cpuUsage(before[2]),
    ]
    if (!counted) continue
    sums.process += all.user + all.system
    sums.main += main.user + main.system
    sums.store += own.user + own.system
    sums.longest = Math.max(sums.longest, took)
    sums.changed += changed
    sums.measured += Math.max(0, Math.min(total, from + rate) - from)
  }
  const each = (micros: number) => (micros / sums.measured).toFixed(2)
  process.stdout.write(
    `${sums.measured} requests: store thread ${each(sums.store)} µs, main thread ${each(sums.main)} µs, ` +
      `whole process ${each(sums.process)} µs a request; ${sums.changed} changes; longest pass ${sums.longest.toFixed(1)} ms\n`,
  )
}

async function measureReads(store: StoreClient): Promise<void> {
  const reads = {
    'list, newest 50': () => store.records.list({ limit: 50 }),
    'list of one key': () => store.records.list({ limit: 50, key: 'service-7' }),
    'list of a key without records': () => store.records.list({ limit: 50, key: 'service-none' }),
    'list of a model without records': () => store.records.list({ limit: 50, model: 'none' }),
    'list of an error': () => store.records.list({ limit: 50, error: 'provider_error' }),
    'list of a rare error': () => store.records.list({ limit: 50, error: 'rate_limited' }),
    'list of a status': () => store.records.list({ limit: 50, status: '4xx' }),
    'stats by model': () => store.records.stats({ limit: 0 }, 'model'),
    'stats by tag': () => store.records.stats({ limit: 0 }, 'tag'),
    'stats of one key': () => store.records.stats({ limit: 0, key: 'service-7' }, 'total'),
  }
  for (const [name, read] of Object.entries(reads)) {
    const times: number[] = []
    for (let count = 0; count < 4; count++) {
      const begun = performance.now()
      await read()
      times.push(performance.now() - begun)
    }
    process.stdout.write(`${name}: ${Math.min(...times).toFixed(1)} ms\n`)
  }
}

async function measureIdle(worker: Worker): Promise<void> {
  const before = await worker.cpuUsage()
  await new Promise((resolve) => setTimeout(resolve, 10_000))
  const used = await worker.cpuUsage(before)
  process.stdout.write(`idle: ${((used.user + used.system) / 1e5).toFixed(3)} % of a core\n`)
}

const place = join(import.meta.dirname, '../../.build/bench')
mkdirSync(place, { recursive: true })
const directory = mkdtempSync(join(place, 'ingestion-'))
try {
  const journalDirectory = join(directory, 'journal')
  const databasePath = join(directory, 'spgw.db')
  const workerData = { databasePath, journalDirectory, boot: 'bench' }
  const worker = new Worker(new URL('../../src/store/thread.ts', import.meta.url), { workerData })
  const store = await startStore(() => worker)
  const metrics = new TrafficMetrics()
  store.onTraffic((tally) => metrics.add(tally))
  await measureIngestion(store, worker, journalDirectory)
  const sizes = ['', '-wal'].map((suffix) => statSync(databasePath + suffix, { throwIfNoEntry: false })?.size ?? 0)
  process.stdout.write(
    `database ${((sizes[0] ?? 0) / 1e6).toFixed(1)} MB, log ${((sizes[1] ?? 0) / 1e6).toFixed(1)} MB\n`,
  )
  if (values.reads) await measureReads(store)
  if (values.idle) await measureIdle(worker)
  await store.close()
} finally {
  rmSync(directory, { recursive: true, force: true })
}
