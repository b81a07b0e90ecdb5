import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Backups } from '../../../src/daemon/backup/backup.ts'
import type { BackupSources } from '../../../src/daemon/backup/take-backup.ts'

const options = { credentials: true, records: true }

/** A gateway without credentials, whose store fails as soon as a backup begins. */
function setUp(sealed: string[] = [], ingest = () => Promise.reject(new Error('the disk is full'))) {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'backup-'))
  onTestFinished(() => rmSync(dataDirectory, { recursive: true }))
  mkdirSync(join(dataDirectory, 'backup'))
  writeFileSync(join(dataDirectory, 'backup', 'half.db'), 'of a gateway that was killed')
  const store = {
    seal: { recovery: async () => null, sealed: async () => sealed },
    ingest,
  }
  const databasePath = join(dataDirectory, 'spgw.db')
  const sources = { store, databasePath, dataDirectory, keyring: {}, nativeBinding: undefined, version: '1' }
  return { dataDirectory, backups: new Backups(sources as unknown as BackupSources) }
}

const begin = (events: AsyncIterable<unknown>) => events[Symbol.asyncIterator]().next()

it('removes what a gateway that was killed left of one', () => {
  expect(readdirSync(setUp().dataDirectory)).toEqual([])
})

it('that fails keeps no other from being made, and leaves nothing', async () => {
  const { backups, dataDirectory } = setUp()
  for (let times = 0; times < 2; times++)
    await expect(begin(await backups.take(options))).rejects.toThrow('the disk is full')
  expect(readdirSync(dataDirectory)).toEqual([])
})

it('that nobody reads keeps no other from being made', async () => {
  const { backups } = setUp()
  const unread = await backups.take(options)
  await expect(begin(await backups.take(options))).rejects.toThrow('the disk is full')
  await unread[Symbol.asyncIterator]().return?.()
  await expect(begin(await backups.take(options))).rejects.toThrow('the disk is full')
})

it('is made one at a time, also where two are asked for at once', async () => {
  const ingested = Promise.withResolvers<never>()
  const { backups } = setUp([], () => ingested.promise)
  const [one, other] = await Promise.all([backups.take(options), backups.take(options)])
  const first = begin(one)
  await expect(begin(other)).rejects.toThrow('Another backup is in progress.')
  await expect(backups.take(options)).rejects.toThrow('Another backup is in progress.')
  ingested.reject(new Error('the disk is full'))
  await expect(first).rejects.toThrow('the disk is full')
})

it('with credentials needs a recovery key', async () => {
  const { backups } = setUp(['credential:prv_1'])
  await expect(backups.take(options)).rejects.toThrow('There is no recovery key')
  await expect(backups.take({ ...options, credentials: false })).resolves.toBeDefined()
})
