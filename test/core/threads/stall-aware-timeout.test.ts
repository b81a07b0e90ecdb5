import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { stallAwareTimeout } from '../../../src/core/threads/stall-aware-timeout.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const turn = () => new Promise(setImmediate)

it('acts when the time is over, in pieces or within one', async () => {
  const told: string[] = []
  stallAwareTimeout(250, () => told.push('long'))
  stallAwareTimeout(30, () => told.push('short'))
  vi.advanceTimersByTime(249)
  await turn()
  expect(told).toEqual(['short'])
  vi.advanceTimersByTime(1)
  await turn()
  expect(told).toEqual(['short', 'long'])
})

it('takes a time in which the process was not run for one piece', async () => {
  vi.useRealTimers()
  const act = vi.fn()
  const { cancel } = stallAwareTimeout(1000, act)
  const end = performance.now() + 1500
  while (performance.now() < end);
  await new Promise((resolve) => setTimeout(resolve))
  await turn()
  cancel()
  expect(act).not.toHaveBeenCalled()
})

it('lets what is here already come first', async () => {
  const act = vi.fn()
  const { cancel } = stallAwareTimeout(10, act)
  vi.advanceTimersByTime(10)
  cancel()
  await turn()
  expect(act).not.toHaveBeenCalled()
})
