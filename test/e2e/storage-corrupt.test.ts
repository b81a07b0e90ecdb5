import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, describe, expect, it } from 'vitest'
import { entryHeaderBytes } from '../../src/core/journal-format.ts'
import { gatewayCommand, startGateway, type TestGateway } from '../support/gateway.ts'
import { expectDegraded, logLines, readRecords, type SickStage, setSickStage } from '../support/sick-storage.ts'
import { temporaryDirectory } from '../support/storage-fault.ts'

const oneThread = { environment: { SPGW_GATEWAY_WORKERS: '1' } }

let stage: SickStage | null = null
let next: TestGateway | null = null
afterEach(async () => {
  await next?.stop()
  await stage?.close()
  next = null
  stage = null
})

interface Entry {
  id: string
  kind: string
  start: number
  end: number
}

function listEntries(segment: Buffer): Entry[] {
  const entries: Entry[] = []
  for (let start = 0; start + entryHeaderBytes < segment.length; ) {
    const end = start + entryHeaderBytes + segment.readUInt32LE(start)
    if (end === start + entryHeaderBytes) break
    const { kind, record } = JSON.parse(segment.toString('utf8', start + entryHeaderBytes, end))
    entries.push({ id: record.id, kind, start, end })
    start = end
  }
  return entries
}

/** Requests that are in the journal and not in the store: another process held its database locked until the kill. */
async function killBehindTraffic(dataDirectory: string) {
  const sick = await setSickStage({ ...oneThread, dataDirectory })
  stage = sick
  const other = new Sqlite(join(dataDirectory, 'spgw.db'), { timeout: 60_000 })
  other.exec('begin exclusive')
  await sick.crowd.answered(40)
  await sick.crowd.leave()
  await sick.gateway.kill('SIGKILL')
  other.exec('rollback')
  other.close()
  expect(sick.crowd.tally.failed).toEqual([])
  const [file = ''] = readdirSync(join(dataDirectory, 'journal')).filter((name) => name.endsWith('.journal'))
  return { segment: join(dataDirectory, 'journal', file), file, complete: sick.crowd.tally.complete }
}

/** The first and the last may not be neighbours: each costs what it hits. */
const damages: ((bytes: Buffer, entry: Entry) => void)[] = [
  (bytes, { start }) => bytes.writeUInt8((bytes[start + 200] ?? 0) ^ 4, start + 200),
  (bytes, { start }) => bytes.writeUInt32LE(0xdeadbeef, start),
  (bytes, { start, end }) => bytes.fill(0, start, end),
]

describe('a segment that is corrupt at the next start', () => {
  it('by a flipped byte, a length of garbage, a hole and a cut tail loses those records, is set aside, and says so', async () => {
    const dataDirectory = temporaryDirectory()
    const { segment, file, complete } = await killBehindTraffic(dataDirectory)
    const stored = new Map(readRecords(dataDirectory).map(([id, state]) => [id, state]))
    const bytes = readFileSync(segment)
    const settled = listEntries(bytes).filter(({ id, kind }) => kind === 'settled' && stored.get(id) !== 'settled')
    const hit = [3, 10, 17].flatMap((index) => settled[index] ?? [])
    const last = listEntries(bytes).at(-1)
    if (hit.length < damages.length || last?.kind !== 'settled') throw new Error('too little is unread')
    for (const [index, entry] of hit.entries()) damages[index]?.(bytes, entry)
    const cut = bytes.subarray(0, last.end - 7)
    writeFileSync(segment, cut)

    next = await startGateway({ ...oneThread, dataDirectory })
    const { admin, consoleUrl } = next
    await admin.requests.list({})
    // Their admitted entries stand: that they were there is known, only not how they ended.
    const lost = new Set([...hit, last].map(({ id }) => id))
    const wanted = [...complete].map(([id, status]) =>
      lost.has(id) ? [id, 'interrupted', null] : [id, 'settled', status],
    )
    expect(readRecords(dataDirectory)).toEqual(wanted.sort())
    await expect.poll(async () => (await admin.status({})).set_aside).toEqual([file])
    expect(readFileSync(join(dataDirectory, 'journal', 'set-aside', file))).toEqual(cut)
    expect(await fetch(`${consoleUrl}/metrics`).then((answer) => answer.text())).toContain('spgw_journal_set_aside 1\n')
    expect(logLines(next)).toContainEqual(
      expect.objectContaining({
        level: 'error',
        message: 'a part of the journal could not be read and was set aside',
        files: file,
        directory: join(dataDirectory, 'journal', 'set-aside'),
      }),
    )
    expect((await next.spgw(['status'])).stdout).toContain(file)
  })
})

describe('a damaged database', () => {
  it('under load stops no request, and keeps the records in the journal', async () => {
    const sick = await setSickStage(oneThread)
    stage = sick
    const { gateway, crowd } = sick
    await crowd.answered(60)
    damageTable(join(gateway.dataDirectory, 'spgw.db'), 'records')
    await expectDegraded(gateway, 'store', /the database is damaged: restore a backup \(SQLITE_CORRUPT/)
    await crowd.answered(100)
    const refused = await gateway.spgw(['keys', 'create', '--name', 'late'])
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('The database is damaged: restore a backup'),
    ])
    await crowd.leave()
    expect(crowd.tally.failed).toEqual([])
    expect((await gateway.spgw(['status'])).code).toBe(0)
    await expectDegraded(gateway, 'store', /the database is damaged/)
    // Nothing of what came since was given to it: it waits for the database that is restored.
    const waiting = readdirSync(join(gateway.dataDirectory, 'journal')).flatMap((file) =>
      file.endsWith('.journal') ? listEntries(readFileSync(join(gateway.dataDirectory, 'journal', file))) : [],
    )
    const settled = new Set(waiting.filter(({ kind }) => kind === 'settled').map(({ id }) => id))
    expect([...crowd.tally.complete.keys()].filter((id) => settled.has(id)).length).toBeGreaterThanOrEqual(100)
  })

  it.each([
    ['in its first page', 0],
    ['in its schema', 100],
  ])('%s is refused at the start, in words', async (_where, at) => {
    const dataDirectory = temporaryDirectory()
    const first = await startGateway({ dataDirectory })
    await first.stop()
    const database = join(dataDirectory, 'spgw.db')
    overwrite(database, at, 900)
    const before = statSync(database).size
    const { command, leading } = gatewayCommand()
    const addresses = ['--listen', '127.0.0.1:0', '--console-listen', '127.0.0.1:0']
    const { status, stderr } = spawnSync(command, [...leading, 'serve', '--data-dir', dataDirectory, ...addresses], {
      encoding: 'utf8',
      timeout: 60_000,
    })
    expect([status, stderr]).toEqual([1, expect.stringContaining('restore a backup')])
    expect(stderr).toContain(database)
    expect(stderr).not.toMatch(/^ +at /m)
    expect(statSync(database).size).toBe(before)
  })
})

/** Garbage where the table begins; a commit by somebody else then makes the gateway read its pages anew. */
function damageTable(path: string, table: string): void {
  const other = new Sqlite(path, { timeout: 60_000 })
  const root = other.prepare('select rootpage from sqlite_master where name = ?').pluck().get(table)
  const size = Number(other.pragma('page_size', { simple: true }))
  other.exec('begin immediate')
  other.exec('create table stranger (id integer)')
  other.exec('commit')
  // All that the log holds, so that nobody reads the page there.
  other.pragma('wal_checkpoint(truncate)')
  overwrite(path, (Number(root) - 1) * size, size)
  other.close()
}

function overwrite(path: string, at: number, length: number): void {
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(length, 0x5a), 0, length, at)
  closeSync(file)
}
