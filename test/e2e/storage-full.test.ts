import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  expectDegraded,
  expectEachRecorded,
  expectWell,
  type SickStage,
  setSickStage,
} from '../support/sick-storage.ts'
import { canFakeDisk, canMount, fakeDisk, fillDisk, limitFileSize, onTmpfs } from '../support/storage-fault.ts'

const megabyte = 1 << 20
const mounting = canMount()

let stage: SickStage
let dataDirectory: string
beforeEach(() => {
  dataDirectory = mkdtempSync(join(tmpdir(), 'spgw-full-'))
})
afterEach(async () => {
  await stage.close()
  rmSync(dataDirectory, { recursive: true, force: true })
})

const oneThread = { SPGW_GATEWAY_WORKERS: '1' }

/** A gateway whose disk can be filled: for the database alone, or for the journal as well. */
async function setFullStage(which: 'database' | 'both') {
  if (!mounting) return which === 'database' ? await setFakedStage() : await setLimitedStage()
  const mounts = [{ path: dataDirectory, bytes: 64 * megabyte }]
  if (which === 'database') mounts.push({ path: join(dataDirectory, 'journal'), bytes: 40 * megabyte })
  stage = await setSickStage({ dataDirectory, ...onTmpfs(dataDirectory, mounts), environment: oneThread })
  const fill = () => fillDisk(stage.gateway.dataDirectory)
  return { fill, database: /the disk is full/, journal: /the disk is full \(ENOSPC\)/ }
}

/** Where nothing may be mounted, files that may not grow come closest; it always hits both. */
async function setLimitedStage() {
  stage = await setSickStage({ dataDirectory, environment: oneThread })
  const { processId } = stage.gateway
  const fill = () => {
    limitFileSize(processId, 1)
    return () => limitFileSize(processId, 'unlimited')
  }
  return { fill, database: /the disk failed to read or write/, journal: /a limit on the size of files \(EFBIG\)/ }
}

/** Nor can the two be told apart by a limit. */
async function setFakedStage() {
  const disk = fakeDisk()
  stage = await setSickStage({ dataDirectory, environment: { ...oneThread, ...disk.environment } })
  const fill = () => {
    disk.fail({ database: 'ENOSPC' })
    return () => disk.fail({ database: null })
  }
  return { fill, database: /the disk is full/, journal: /./ }
}

async function expectRefused(args: string[]): Promise<void> {
  const { code, stderr } = await stage.gateway.spgw(args)
  expect([code, stderr]).toEqual([1, expect.stringMatching(/the disk is full|the disk failed/i)])
  expect(stderr).toContain('Requests are still served')
}

/** The segment in use has its room already. A directory that goes needs a new one at once. */
function fillBoth(fill: () => () => void): () => void {
  const makeRoom = fill()
  if (!mounting) return makeRoom
  rmSync(join(stage.gateway.dataDirectory, 'journal'), { recursive: true })
  return fill()
}

describe('a full disk', () => {
  it.runIf(mounting || canFakeDisk())(
    'under the database stops no request, and records wait in the journal',
    async () => {
      const { fill, database } = await setFullStage('database')
      const { gateway, crowd } = stage
      const makeRoom = fill()
      await crowd.answered(150)
      await expectDegraded(gateway, 'store', database)
      // Its own files have room, and a checkpoint finds more of it: a small change may still fit in.
      let turn = 0
      await vi.waitFor(() => expectRefused(['projects', 'add', `late-${turn++}`]), 60_000)
      await crowd.answered(50)
      // The store itself may find room meanwhile, since it cuts its log; the journal has its own.
      expect((await gateway.admin.status({})).degraded.map(({ part }) => part)).not.toContain('journal')
      makeRoom()
      await expectWell(gateway)
      await crowd.answered(40)
      expect(await expectEachRecorded(stage)).toBeGreaterThan(270)
    },
  )

  // Whether the database notices depends on the room that its own files still have.
  it('under journal and database stops no request, and all that waited arrives once there is room', async () => {
    const { fill, journal } = await setFullStage('both')
    const { gateway, crowd } = stage
    const makeRoom = fillBoth(fill)
    await expectDegraded(gateway, 'journal', journal)
    const before = await residentBytes()
    await crowd.answered(250)
    await expectDegraded(gateway, 'journal', journal)
    expect((await residentBytes()) - before).toBeLessThan(64 * megabyte)
    makeRoom()
    await expectWell(gateway)
    await crowd.answered(40)
    expect(await expectEachRecorded(stage)).toBeGreaterThan(320)
    expect((await gateway.admin.status({})).entries_lost).toBe(0)
  })

  it.runIf(mounting)('at the end keeps in the reserve what waited', async () => {
    const { fill, journal } = await setFullStage('both')
    const { gateway, crowd } = stage
    fillBoth(fill)
    await expectDegraded(gateway, 'journal', journal)
    await crowd.answered(100)
    await crowd.leave()
    expect(crowd.tally.failed).toEqual([])
    await gateway.stop()
    expect(gateway.stderr()).not.toMatch(/"entries_lost":[1-9]/)
  })

  it.runIf(mounting)('does not keep anybody from revoking a key', async () => {
    const { fill } = await setFullStage('both')
    const { gateway, crowd } = stage
    const names = ['one', 'two', 'three']
    for (const name of names) await gateway.admin.keys.create({ name })
    fillBoth(fill)
    await crowd.answered(50)
    let turn = 0
    await vi.waitFor(() => expectRefused(['projects', 'add', `late-${turn++}`]), 60_000)
    for (const name of names) {
      const { code, stderr } = await gateway.spgw(['keys', 'revoke', name, '--yes'])
      expect([code, stderr]).toEqual([0, expect.not.stringContaining('full')])
    }
    const { stdout } = await gateway.spgw(['keys', 'list', '--all', '--json'])
    const keys = JSON.parse(stdout) as { name: string; state: string }[]
    for (const name of names) expect(keys.find((key) => key.name === name)?.state).toBe('revoked')
  })

  it('at the end is told: what never reached the disk is counted in the log', async () => {
    const { fill, journal } = await setFullStage('both')
    const { gateway, crowd } = stage
    rmSync(join(gateway.dataDirectory, 'reserve'), { force: true })
    fillBoth(fill)
    await expectDegraded(gateway, 'journal', journal)
    await crowd.answered(20)
    await crowd.leave()
    expect(crowd.tally.failed).toEqual([])
    await gateway.stop()
    expect(gateway.stderr()).toMatch(/"message":"the journal could not be written".*"entries_lost":[1-9]/)
  })
})

async function residentBytes(): Promise<number> {
  const metrics = await fetch(`${stage.gateway.consoleUrl}/metrics`).then((answer) => answer.text())
  return Number(/^process_resident_memory_bytes (\S+)/m.exec(metrics)?.[1])
}
