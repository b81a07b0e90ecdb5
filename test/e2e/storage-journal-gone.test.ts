import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import {
  expectDegraded,
  expectEachRecorded,
  expectTold,
  expectWell,
  logLines,
  type SickStage,
  setSickStage,
} from '../support/sick-storage.ts'

let stage: SickStage
afterEach(() => stage.close())

const twoThreads = { environment: { SPGW_GATEWAY_WORKERS: '2' } }

it('a journal directory that is deleted under load comes back with what was in it', async () => {
  stage = await setSickStage(twoThreads)
  const { gateway, crowd } = stage
  for (const round of [1, 2]) {
    await crowd.answered(30)
    rmSync(join(gateway.dataDirectory, 'journal'), { recursive: true, force: true })
    await crowd.answered(10)
    await expectTold(
      gateway,
      'journal',
      /the journal directory was deleted; it was created again, with what was in it/,
      round,
    )
    await crowd.answered(30)
    await expectWell(gateway)
    await gateway.said('"message":"no longer degraded"', round)
    expect(logLines(gateway).filter(({ message }) => message === 'no longer degraded')).toHaveLength(round)
  }
  expect(await expectEachRecorded(stage)).toBeGreaterThan(180)
})

it('a file in place of the journal directory stops no request, and records wait until it is gone', async () => {
  stage = await setSickStage(twoThreads)
  const { gateway, crowd } = stage
  const journal = join(gateway.dataDirectory, 'journal')
  renameSync(journal, `${journal}.away`)
  writeFileSync(journal, 'a file')
  await expectDegraded(gateway, 'journal', /the journal directory is not a directory \(EEXIST\)/)
  await crowd.answered(150)
  await expectDegraded(gateway, 'journal', /the journal directory is not a directory \(EEXIST\)/)
  // What is listed looks whole, and is not.
  const missing = /^Note: The journal( and the store are| is) degraded: requests since then wait/
  const listed = await gateway.spgw(['requests', 'list', '--json'])
  expect([listed.code, listed.stderr]).toEqual([0, expect.stringMatching(missing)])
  const lookedUp = await gateway.spgw(['requests', 'show', [...crowd.tally.complete.keys()].at(-1) ?? ''])
  expect([lookedUp.code, lookedUp.stderr]).toEqual([4, expect.stringContaining('requests since then wait')])
  rmSync(journal)
  await expectWell(gateway)
  expect((await gateway.spgw(['requests', 'list'])).stderr).toBe('')
  await crowd.answered(40)
  expect(await expectEachRecorded(stage)).toBeGreaterThan(230)
  expect((await gateway.admin.status({})).entries_lost).toBe(0)
})
