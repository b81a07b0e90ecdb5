import { readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import {
  expectDegraded,
  expectEachRecorded,
  expectTold,
  expectWell,
  logLines,
  readRecords,
  type SickStage,
  setSickStage,
} from '../support/sick-storage.ts'
import { temporaryDirectory } from '../support/storage-fault.ts'

let stage: SickStage
afterEach(() => stage.close())

const twoThreads = { environment: { SPGW_GATEWAY_WORKERS: '2' } }

it('a database that is moved away is noticed, and goes on when it is put back', async () => {
  stage = await setSickStage(twoThreads)
  const { gateway, crowd } = stage
  const database = join(gateway.dataDirectory, 'spgw.db')
  renameSync(database, `${database}.away`)
  await expectDegraded(
    gateway,
    'store',
    /the database file was deleted; its contents were saved to spgw\.db\.rescued-\d+/,
  )
  await crowd.answered(100)
  const refused = await gateway.spgw(['keys', 'create', '--name', 'late'])
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('The database file was deleted')])
  renameSync(`${database}.away`, database)
  await expectWell(gateway)
  await crowd.answered(40)
  expect(await expectEachRecorded(stage)).toBeGreaterThan(180)
  expect(readdirSync(gateway.dataDirectory).filter((file) => file.includes('rescued'))).toEqual([])
})

it('a database that is deleted is rescued, and the next start has all of it and every record', async () => {
  const dataDirectory = temporaryDirectory()
  stage = await setSickStage({ ...twoThreads, dataDirectory })
  const { gateway, crowd } = stage
  const database = join(dataDirectory, 'spgw.db')
  await crowd.answered(40)
  for (const suffix of ['', '-wal', '-shm']) rmSync(database + suffix, { force: true })
  await expectDegraded(
    gateway,
    'store',
    /the database file was deleted; its contents were saved to spgw\.db\.rescued-\d+/,
  )
  await crowd.answered(100)
  await crowd.leave()
  expect(crowd.tally.failed).toEqual([])
  await gateway.stop()
  expect(logLines(gateway).map(({ message }) => message)).toContain('records wait in the journal until the next start')
  const [rescued = ''] = readdirSync(dataDirectory).filter((file) => file.includes('rescued'))
  renameSync(join(dataDirectory, rescued), database)

  const next = await startGateway({ ...twoThreads, dataDirectory })
  onTestFinished(() => next.stop())
  await next.admin.requests.list({})
  expect(readRecords(dataDirectory)).toEqual(
    [...crowd.tally.complete].map(([id, status]) => [id, 'settled', status]).sort(),
  )
  expect((await next.admin.keys.list({})).map(({ name }) => name)).toEqual(['test'])
})

it('a write-ahead log that is deleted is made anew', async () => {
  stage = await setSickStage(twoThreads)
  const { gateway, crowd } = stage
  const log = join(gateway.dataDirectory, 'spgw.db-wal')
  rmSync(log)
  await expectTold(gateway, 'store', /the write-ahead log of the database was deleted and has been recreated/)
  await crowd.answered(80)
  await expectWell(gateway)
  expect(await expectEachRecorded(stage)).toBeGreaterThan(120)
  expect(await gateway.kill('SIGKILL')).toBeNull()
  expect(readRecords(gateway.dataDirectory)).toHaveLength(crowd.tally.complete.size)
})
