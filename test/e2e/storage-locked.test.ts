import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, expect, it } from 'vitest'
import {
  expectDegraded,
  expectEachRecorded,
  expectWell,
  logLines,
  type SickStage,
  setSickStage,
} from '../support/sick-storage.ts'

/** SPGW_TEST_LOCK_MS=30000 is the long form; by default no longer than it takes to see everything. */
const lockedMs = Number(process.env.SPGW_TEST_LOCK_MS ?? 0)

let stage: SickStage
afterEach(() => stage.close())

it('traffic goes on while another process has the database locked, and each record arrives once', async () => {
  stage = await setSickStage({ environment: { SPGW_GATEWAY_WORKERS: '2' } })
  const { gateway, crowd } = stage
  const { id } = await gateway.createKey('doomed')
  const [early = ''] = crowd.tally.complete.keys()
  // Asked for, it is brought in: what is looked at below stands in the database before that is locked.
  expect((await gateway.admin.requests.show({ id: early })).state).toBe('settled')
  const other = new Sqlite(join(gateway.dataDirectory, 'spgw.db'), { timeout: 60_000 })
  other.exec('begin exclusive')
  const since = Date.now()

  await crowd.answered(100)
  await expectDegraded(gateway, 'store', /another process has locked the database/)
  // Reading goes on, except for what would leave the newest out; changing is refused in words, and changes nothing.
  expect((await gateway.spgw(['keys', 'list', '--json'])).code).toBe(0)
  expect((await gateway.spgw(['providers', 'list'])).code).toBe(0)
  const [listed, revoked] = await Promise.all([
    gateway.spgw(['requests', 'list']),
    gateway.spgw(['keys', 'revoke', id, '--yes']),
  ])
  expect((await gateway.admin.requests.show({ id: early })).state).toBe('settled')
  for (const { code, stderr } of [listed, revoked]) {
    expect([code, stderr]).toEqual([1, expect.stringMatching(/another process has locked the database/i)])
    expect(stderr).toContain('Requests are still served')
    expect(stderr).not.toContain(' at ')
  }
  await crowd.answered(100)
  while (Date.now() - since < lockedMs) await crowd.answered(50)
  await expectDegraded(gateway, 'store', /another process has locked the database/)
  const shown = await gateway.spgw(['status'])
  expect([shown.code, shown.stdout]).toEqual([
    0,
    expect.stringMatching(/degraded, still serving\n +store +for .*: another process has locked/),
  ])
  other.exec('rollback')
  other.close()

  await expectWell(gateway)
  const keys = await gateway.admin.keys.list({})
  expect(keys.find((key) => key.id === id)).toMatchObject({ revoked_at: null })
  await gateway.admin.keys.revoke({ key: id })
  await crowd.answered(40)
  expect(await expectEachRecorded(stage)).toBeGreaterThan(280)
  // One line when it began and one when it ended, however often it was tried.
  await gateway.said('"message":"no longer degraded"')
  const told = logLines(gateway).map(({ message }) => message)
  expect(told.filter((message) => message === 'degraded')).toHaveLength(1)
  expect(told.filter((message) => message === 'no longer degraded')).toHaveLength(1)
})
