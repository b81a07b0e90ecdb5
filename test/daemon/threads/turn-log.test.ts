import { expect, it, vi } from 'vitest'
import { TurnLog } from '../../../src/daemon/threads/turn-log.ts'

it('counts long turns by thread, with the longest and the last, and logs each', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-10T12:00:00Z') })
  try {
    const warnings: unknown[] = []
    const nothing = () => {}
    const log = new TurnLog({
      debug: nothing,
      info: nothing,
      warn: (_, fields) => warnings.push(fields),
      error: nothing,
    })
    expect(log.list()).toEqual([])
    log.report('store', { ms: 200, cpuMs: 150, work: 'backup' })
    vi.setSystemTime(Date.parse('2026-03-10T12:00:05Z'))
    log.report('store', { ms: 120, cpuMs: 20, work: '' })
    log.report('data plane 1', { ms: 90, cpuMs: 90, work: 'parse' })
    expect(log.list()).toEqual([
      { thread: 'store', count: 2, longestMs: 200, lastAt: '2026-03-10T12:00:05.000Z', lastWork: '' },
      { thread: 'data plane 1', count: 1, longestMs: 90, lastAt: '2026-03-10T12:00:05.000Z', lastWork: 'parse' },
    ])
    expect(warnings).toContainEqual({ thread: 'store', ms: 200, cpu_ms: 150, work: 'backup' })
    expect(warnings).toHaveLength(3)
  } finally {
    vi.useRealTimers()
  }
})
