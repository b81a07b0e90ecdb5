import { existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadSettings } from '../../src/config/load.ts'
import { formatBytes } from '../../src/core/text/format-bytes.ts'
import { layFoundation } from '../../src/daemon/foundation.ts'
import type { StoreClient } from '../../src/store/api.ts'
import { databaseBytes } from '../../src/store/sqlite/database-bytes.ts'
import { readFlags } from '../read-flags.ts'
import { fillStore } from './fill.ts'
import { fillPostgres, readPostgres } from './postgres.ts'
import { type Reading, readAll } from './readings.ts'
import { measureRetention } from './traffic.ts'

const help = `npm run scale -- [--records N] [--days N] [--data-dir DIR] [--without-traffic] [--postgres]

Fills a store with 10 million records of 90 days (2 million where the disk has under 40 GB) and prints what lists, statistics and
retention take, against the targets. 10 million take about 22 GB below .build, which are deleted afterwards.

  --records N         as many records
  --days N            of as many days (90)
  --data-dir DIR      keep them there, or measure those that are there
  --without-traffic   leave retention under traffic out
  --postgres          as nodes of a cluster read them from PostgreSQL, without traffic (Debian's package postgresql; 30 GB below /tmp)
`
const { values } = readFlags(help, {
  options: {
    records: { type: 'string' },
    days: { type: 'string', default: '90' },
    'data-dir': { type: 'string' },
    'without-traffic': { type: 'boolean', default: false },
    postgres: { type: 'boolean', default: false },
  },
})
const scratch = join(import.meta.dirname, '../../.build/scale')
const days = Number(values.days)
const enoughBytes = 40e9

function chooseDirectory(): { directory: string; kept: boolean } {
  const given = values['data-dir']
  if (given !== undefined) {
    mkdirSync(given, { recursive: true, mode: 0o700 })
    return { directory: given, kept: true }
  }
  mkdirSync(scratch, { recursive: true })
  return { directory: mkdtempSync(join(scratch, 'data-')), kept: false }
}

function chooseCount(directory: string): number {
  const { bavail, bsize } = statfsSync(directory)
  const free = bavail * bsize
  if (values.records !== undefined) return Number(values.records)
  const count = free < enoughBytes ? 2_000_000 : 10_000_000
  say(`The disk has ${formatBytes(free)} free: ${count.toLocaleString('en-US')} records.`)
  return count
}

const say = (line: string) => process.stdout.write(`${line}\n`)
const sayLoad = () =>
  say(
    `Load of the machine: ${loadavg()
      .map((each) => each.toFixed(1))
      .join(' ')}`,
  )

async function openRecords(directory: string): Promise<StoreClient> {
  const settings = loadSettings({ flags: { dataDir: directory }, environment: {} })
  const { store } = await layFoundation({ settings, credentialsDirectory: null, boot: 'scale' })
  // Nothing is too old while it is measured.
  const ever = Number.MAX_SAFE_INTEGER / 2
  store.keepRecords({ recordsMs: ever, bodiesMs: ever, mostBytes: null })
  return store
}

async function fill(directory: string): Promise<void> {
  // The data directory with all that belongs to it.
  await (await openRecords(directory)).close()
  await fillWith(chooseCount(directory), (more) => fillStore({ databasePath: join(directory, 'spgw.db'), ...more }))
}

interface Filling {
  records: number
  days: number
  onStored(records: number): void
}

async function fillWith<Filled>(records: number, run: (filling: Filling) => Promise<Filled>): Promise<Filled> {
  const begun = performance.now()
  const onStored = (made: number) => process.stderr.write(`\r${made.toLocaleString('en-US')} records`)
  const filled = await run({ records, days, onStored })
  const seconds = (performance.now() - begun) / 1000
  process.stderr.write('\n')
  say(`Filled with ${records.toLocaleString('en-US')} records in ${seconds.toFixed(0)} s, invented and stored.`)
  return filled
}

async function runPostgres(): Promise<boolean> {
  const server = await fillWith(chooseCount(tmpdir()), fillPostgres)
  const { records, close } = readPostgres(server)
  try {
    say(`Database: ${server.query('select pg_size_pretty(pg_database_size(current_database()))')}`)
    sayLoad()
    return print(await readAll({ records }, days))
  } finally {
    await close()
    server.remove()
  }
}

/** Returns whether every target was met. */
async function run(directory: string): Promise<boolean> {
  const database = join(directory, 'spgw.db')
  const there = existsSync(database)
  if (!there) await fill(directory)
  let readings: Reading[]
  const store = await openRecords(directory)
  try {
    say(`Database: ${formatBytes(databaseBytes(database))}`)
    sayLoad()
    readings = await readAll(store, days)
  } finally {
    await store.close()
  }
  let met = print(readings)
  if (values['without-traffic']) return met
  sayLoad()
  const { before, during, removed, bytesBefore, bytesAfter } = await measureRetention(directory, days)
  say(
    `p99 of traffic: ${before.toFixed(1)} ms; while ${removed.toLocaleString('en-US')} records were removed: ${during.toFixed(1)} ms`,
  )
  say(`Database before: ${formatBytes(bytesBefore)}, after retention: ${formatBytes(bytesAfter)}`)
  met &&= during <= before * 1.25 + 1 && bytesAfter < bytesBefore * 0.95
  return met
}

function print(readings: readonly Reading[]): boolean {
  for (const { name, took, cpu, most, note } of readings) {
    const verdict = took <= most ? 'met   ' : 'MISSED'
    say(
      `${verdict} ${took.toFixed(1).padStart(8)} ms of ${String(most).padStart(4)}, CPU ${cpu.toFixed(0).padStart(4)} ms  ${name}${note === undefined ? '' : `: ${note}`}`,
    )
  }
  return readings.every(({ took, most }) => took <= most)
}

const { directory, kept } = chooseDirectory()
try {
  const met = values.postgres ? await runPostgres() : await run(directory)
  say(met ? 'Every target is met.' : 'Some targets are missed.')
  process.exitCode = met ? 0 : 1
} finally {
  if (!kept) rmSync(directory, { recursive: true, force: true })
}
