import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { BackupEvent } from '../../../src/admin/contract/backup.ts'
import { nextTime, ScheduledBackups } from '../../../src/daemon/backup/scheduled-backups.ts'
import type { Log } from '../../../src/daemon/log.ts'

const hour = 60 * 60_000
const start = Date.UTC(2026, 2, 1, 12)
const log: Log = { debug() {}, info() {}, warn() {}, error() {} }

async function* events(text: string, ends = true): AsyncGenerator<BackupEvent> {
  yield { kind: 'bytes', base64: Buffer.from(text).toString('base64') }
  if (ends) yield { kind: 'end', sha256: '' }
}

function setUp() {
  const directory = mkdtempSync(join(tmpdir(), 'backups-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const state = { now: start, degraded: null as string | null, taken: 0, next: () => Promise.resolve(events('whole')) }
  const open = () =>
    new ScheduledBackups({
      log,
      now: () => state.now,
      onDegraded: (reason) => (state.degraded = reason),
      take: () => {
        state.taken++
        return state.next()
      },
    })
  return { directory, state, open, files: () => readdirSync(directory).sort() }
}

describe('scheduled backups', () => {
  it('are made when they are due, across restarts, and the oldest go', async () => {
    const { directory, state, open, files } = setUp()
    const settings = { schedule: { everyMs: 6 * hour }, keep: 2, directory }
    writeFileSync(join(directory, 'spgw-mine.backup'), 'mine')
    const first = open()
    first.change(settings)
    await first.look()
    await first.stop()
    expect(files()).toEqual(['spgw-20260301T120000Z.backup', 'spgw-mine.backup'])
    expect(readFileSync(join(directory, 'spgw-20260301T120000Z.backup'), 'utf8')).toBe('whole')
    expect(statSync(join(directory, 'spgw-20260301T120000Z.backup')).mode & 0o777).toBe(0o600)
    const second = open()
    second.change(settings)
    for (const passed of [5, 6, 11, 12, 30]) {
      state.now = start + passed * hour
      await second.look()
    }
    await second.stop()
    expect(files()).toEqual(['spgw-20260302T000000Z.backup', 'spgw-20260302T180000Z.backup', 'spgw-mine.backup'])
    expect(state.taken).toBe(4)
  })

  it('say why one failed, leave nothing of it, and try again', async () => {
    const { directory, state, open, files } = setUp()
    const backups = open()
    state.next = () => Promise.resolve(events('half', false))
    backups.change({ schedule: { everyMs: hour }, keep: null, directory })
    await backups.stop()
    expect(state.degraded).toBe('the last scheduled backup failed: the backup ended early')
    expect(files()).toEqual([])
    state.next = () => Promise.reject(new Error('There is no recovery key.'))
    backups.change({ schedule: { everyMs: hour }, keep: null, directory })
    await backups.stop()
    expect(state.degraded).toContain('There is no recovery key.')
    state.next = () => Promise.resolve(events('whole'))
    backups.change({ schedule: { everyMs: hour }, keep: null, directory })
    await backups.stop()
    expect([state.degraded, files().length]).toEqual([null, 1])
  })

  it('are due at a time of day, or after an interval', () => {
    const daily = { minuteOfDay: 3 * 60 + 30 }
    expect(nextTime(daily, null, start)).toBe(Date.UTC(2026, 2, 2, 3, 30))
    expect(nextTime(daily, Date.UTC(2026, 2, 2, 3, 30), start)).toBe(Date.UTC(2026, 2, 3, 3, 30))
    expect(nextTime(daily, Date.UTC(2026, 1, 1), start)).toBe(Date.UTC(2026, 1, 1, 3, 30))
    expect(nextTime({ everyMs: hour }, null, start)).toBe(start)
    expect(nextTime({ everyMs: hour }, start - 1, start)).toBe(start - 1 + hour)
  })

  it('are made after a clock that was ahead was set back, and the one from ahead stays', async () => {
    const { directory, state, open, files } = setUp()
    const backups = open()
    state.now = Date.UTC(2036, 0, 1)
    backups.change({ schedule: { everyMs: hour }, keep: 2, directory })
    await backups.look()
    for (const passed of [0, 1, 2]) {
      state.now = start + passed * hour
      await backups.look()
    }
    await backups.stop()
    const made = ['spgw-20260301T130000Z.backup', 'spgw-20260301T140000Z.backup']
    expect(files()).toEqual([...made, 'spgw-20360101T000000Z.backup'])
  })

  it('are made at their time of day by a gateway that started while the clock was ahead', async () => {
    const { directory, state, open, files } = setUp()
    state.now = Date.UTC(2036, 0, 1)
    const backups = open()
    state.now = start
    backups.change({ schedule: { minuteOfDay: 12 * 60 + 30 }, keep: null, directory })
    await backups.look()
    expect(files()).toEqual([])
    state.now = start + hour
    await backups.look()
    await backups.stop()
    expect(files()).toEqual(['spgw-20260301T130000Z.backup'])
  })

  it('are tried again soon after a failure, also where the clock was set back meanwhile', async () => {
    const { directory, state, open } = setUp()
    const backups = open()
    state.next = () => Promise.reject(new Error('no space left'))
    backups.change({ schedule: { everyMs: hour }, keep: null, directory })
    await backups.look()
    expect(state.taken).toBe(1)
    state.now += 9 * 60_000
    await backups.look()
    expect(state.taken).toBe(1)
    state.now -= 24 * hour
    await backups.look()
    expect(state.taken).toBe(2)
    await backups.stop()
  })

  it('that fail after they were switched off, or sent elsewhere, say so to nobody who looks', async () => {
    const { directory, state, open, files } = setUp()
    const backups = open()
    for (const after of [null, { schedule: { everyMs: hour }, keep: null, directory }]) {
      const late = Promise.withResolvers<void>()
      state.next = () => late.promise.then(() => Promise.reject(new Error('no space left')))
      backups.change({ schedule: { everyMs: hour }, keep: null, directory: join(directory, 'missing') })
      const failed = backups.look()
      backups.change(after)
      late.resolve()
      await failed
      expect(state.degraded).toBeNull()
    }
    state.next = () => Promise.resolve(events('whole'))
    await backups.look()
    await backups.stop()
    expect(files()).toEqual(['missing', 'spgw-20260301T120000Z.backup'])
  })
})
