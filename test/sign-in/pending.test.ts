import { expect, it, onTestFinished, vi } from 'vitest'
import { PendingValues } from '../../src/sign-in/pending.ts'

it('gives what waits once', () => {
  const pending = new PendingValues<string>(1000)
  pending.put('a', 'first', '::1')
  expect([pending.peek('a'), pending.take('a'), pending.take('a')]).toEqual(['first', 'first', null])
})

it('forgets what has waited for too long, also where the clock was set back meanwhile', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const pending = new PendingValues<string>(1000)
  pending.put('a', 'first', '::1')
  vi.setSystemTime(Date.now() - 3_600_000)
  vi.advanceTimersByTime(1001)
  expect(pending.take('a')).toBeNull()
})

it('keeps no more than it is told, the newest', () => {
  const pending = new PendingValues<number>(1000, 3)
  for (let number = 0; number < 5; number++) pending.put(`key ${number}`, number, '::1')
  expect([0, 1, 2, 3, 4].map((number) => pending.peek(`key ${number}`))).toEqual([null, null, 2, 3, 4])
})

it('forgets nothing of others for who begins without end', () => {
  const pending = new PendingValues<number>(1000, 10)
  pending.put('mine', -1, '10.0.0.1')
  for (let number = 0; number < 50; number++) pending.put(`key ${number}`, number, `2001:db8::${number}`)
  expect([pending.peek('mine'), pending.peek('key 0'), pending.peek('key 49')]).toEqual([-1, null, 49])
})
