import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { gatewayCommand, startGateway } from '../support/gateway.ts'
import {
  expectDegraded,
  expectEachRecorded,
  expectWell,
  type SickStage,
  setSickStage,
} from '../support/sick-storage.ts'
import {
  canFakeDisk,
  canMount,
  fakeDisk,
  limitFileSize,
  readOnly,
  temporaryDirectory,
} from '../support/storage-fault.ts'

let stage: SickStage | null = null
afterEach(async () => {
  await stage?.close()
  stage = null
})

const twoThreads = { SPGW_GATEWAY_WORKERS: '2' }

/** A gateway whose disk can turn read-only while it runs, as a file system does on an error; else one whose files may not grow. */
async function setReadOnlyStage() {
  if (canFakeDisk()) {
    const disk = fakeDisk()
    stage = await setSickStage({ environment: { ...twoThreads, ...disk.environment } })
    return { ...stage, fail: disk.fail, words: /the disk failed to read or write the database|read-only/i }
  }
  const limited = await setSickStage({ environment: twoThreads })
  stage = limited
  const fail = ({ database, journal }: { database?: unknown; journal?: unknown }) =>
    limitFileSize(limited.gateway.processId, database || journal ? 1 : 'unlimited')
  return { ...limited, fail, words: /the disk failed to read or write the database/i }
}

describe('a disk that turns read-only', () => {
  it('under journal and database stops no request, and all that waited arrives once it is mended', async () => {
    const { gateway, crowd, fail, words } = await setReadOnlyStage()
    fail({ database: 'EROFS', journal: 'EROFS' })
    await expectDegraded(gateway, 'store', words)
    await expectDegraded(gateway, 'journal', /the file system is read-only \(EROFS\)|a limit on the size of files/)
    await crowd.answered(150)
    const { code, stderr } = await gateway.spgw(['keys', 'create', '--name', 'late'])
    expect([code, stderr]).toEqual([1, expect.stringMatching(words)])
    expect((await gateway.spgw(['keys', 'list'])).code).toBe(0)
    fail({ database: null, journal: null })
    await expectWell(gateway)
    await crowd.answered(40)
    expect(await expectEachRecorded(stage!)).toBeGreaterThan(220)
    expect((await gateway.admin.keys.list({})).map(({ name }) => name)).toEqual(['test'])
    expect((await gateway.admin.status({})).entries_lost).toBe(0)
  })

  it.runIf(canFakeDisk())('under the database alone leaves the records in the journal', async () => {
    const { gateway, crowd, fail, words } = await setReadOnlyStage()
    fail({ database: 'EIO' })
    await expectDegraded(gateway, 'store', words)
    await crowd.answered(150)
    expect((await gateway.admin.status({})).degraded.map(({ part }) => part)).toEqual(['store'])
    fail({ database: null })
    await expectWell(gateway)
    expect(await expectEachRecorded(stage!)).toBeGreaterThan(190)
  })
})

describe.runIf(canMount())('a data directory that is read-only from the start', () => {
  it('is refused in words, and changed in nothing', async () => {
    const dataDirectory = temporaryDirectory()
    const first = await startGateway({ dataDirectory })
    await first.stop()
    const before = readdirSync(dataDirectory)
    const { command, leading } = gatewayCommand()
    const { launcher = [] } = readOnly(dataDirectory)
    const [file = '', ...args] = [...launcher, command, ...leading, 'serve', '--data-dir', dataDirectory]
    const addresses = ['--listen', '127.0.0.1:0', '--console-listen', '127.0.0.1:0']
    const { status, stderr } = spawnSync(file, [...args, ...addresses], { encoding: 'utf8', timeout: 60_000 })
    expect([status, stderr]).toEqual([1, expect.stringMatching(/read-only/)])
    expect(stderr).toContain(join(dataDirectory))
    expect(stderr).not.toMatch(/^ +at /m)
    expect(readdirSync(dataDirectory)).toEqual(before)
  })
})
