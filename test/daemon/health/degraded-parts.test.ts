import { describe, expect, it, vi } from 'vitest'
import type { DegradedPart } from '../../../src/core/degraded.ts'
import { DegradedParts } from '../../../src/daemon/health/degraded-parts.ts'
import { createLog } from '../../../src/daemon/log.ts'

function watchParts() {
  const lines: { level: string; message: string; reason?: string; part: string; seconds?: number }[] = []
  const changes: DegradedPart[][] = []
  const log = createLog({ level: 'info', format: 'json' }, (line) => lines.push(JSON.parse(line)))
  const parts = new DegradedParts(log, (list) => changes.push(list))
  return { parts, lines, changes }
}

describe('a part of the gateway', () => {
  it('is degraded until every source says that it is over', () => {
    const { parts, lines } = watchParts()
    parts.report('journal', 'thread 1', 'disk full')
    parts.report('journal', 'thread 2', 'disk full')
    parts.report('journal', 'thread 1', null)
    expect(parts.list()).toMatchObject([{ part: 'journal', reason: 'disk full' }])
    parts.report('journal', 'thread 2', null)
    expect(parts.list()).toEqual([])
    expect(lines.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'degraded'],
      ['info', 'no longer degraded'],
    ])
  })

  it('is logged once for each reason, not for each try, nor for a count that grows', () => {
    const { parts, lines } = watchParts()
    for (let waiting = 1; waiting <= 100; waiting++)
      parts.report('journal', 'thread 1', `disk full, ${waiting} entries wait`)
    parts.report('journal', 'thread 2', 'disk full, 7 entries wait')
    parts.report('journal', 'thread 1', 'the directory is gone')
    expect(lines.map(({ reason }) => reason)).toEqual(['disk full, 1 entries wait', 'the directory is gone'])
  })

  it('names the different reasons of its sources, each once', () => {
    const { parts } = watchParts()
    parts.report('journal', 'thread 1', 'disk full')
    parts.report('journal', 'thread 2', 'disk full')
    parts.report('journal', 'thread 3', 'the directory is gone')
    expect(parts.list()[0]?.reason).toBe('disk full; the directory is gone')
  })

  it('keeps the time at which it began, and counts how often that happened', () => {
    const { parts, changes } = watchParts()
    parts.report('store', 'store', 'locked')
    const since = parts.list()[0]?.since
    parts.report('store', 'store', 'still locked')
    expect(parts.list()[0]?.since).toBe(since)
    parts.report('store', 'store', null)
    parts.report('store', 'store', 'locked')
    expect(parts.entered().get('store')).toBe(2)
    expect(parts.entered().get('journal')).toBe(0)
    expect(changes).toHaveLength(4)
  })

  it('was degraded for no less than no time, also where the clock was set back meanwhile', () => {
    vi.useFakeTimers({ now: 2_000_000_000_000 })
    const { parts, lines } = watchParts()
    parts.report('store', 'store', 'locked')
    vi.setSystemTime(1_999_999_000_000)
    parts.report('store', 'store', null)
    vi.useRealTimers()
    expect(lines.at(-1)).toMatchObject({ message: 'no longer degraded', seconds: 0 })
  })

  it('is no news while nothing changes', () => {
    const { parts, changes, lines } = watchParts()
    parts.report('store', 'store', null)
    parts.report('store', 'store', 'locked')
    parts.report('store', 'store', 'locked')
    expect([changes.length, lines.length]).toEqual([1, 1])
  })
})
