import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type CallHolder, LiveCalls } from '../../src/console/live-calls.ts'

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }))
afterEach(() => void vi.useRealTimers())

/** A response whose end can be seen. */
class FakeResponse extends EventEmitter {
  destroyed = false

  destroy(): void {
    this.destroyed = true
    this.emit('close')
  }
}

/** A call of this holder that is open. */
function open(calls: LiveCalls, holder: Partial<CallHolder> = {}) {
  const response = new FakeResponse()
  const until = Date.now() + 60_000
  const whole = { key: 'session', until, recheck: async () => until, ...holder }
  const signal = calls.open(whole, response as unknown as ServerResponse)
  return { response, signal, ended: () => signal?.aborted }
}

const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1000)

describe('an open call', () => {
  it('ends when its permission does, to the moment', async () => {
    const { ended } = open(new LiveCalls())
    await seconds(59.9)
    expect(ended()).toBe(false)
    await seconds(0.2)
    expect(ended()).toBe(true)
  })

  it('ends although the store never says whether it is still permitted', async () => {
    const { ended } = open(new LiveCalls(), { recheck: () => new Promise(() => {}) })
    await seconds(62)
    expect(ended()).toBe(true)
  })

  it('ends in its time although the store says nothing of another', async () => {
    const calls = new LiveCalls()
    open(calls, { until: Number.POSITIVE_INFINITY, recheck: () => new Promise(() => {}) })
    const { ended } = open(calls, { key: 'other' })
    await seconds(62)
    expect(ended()).toBe(true)
  })

  it('goes on until it expires where the store has a fault', async () => {
    const { ended } = open(new LiveCalls(), { recheck: () => Promise.reject(new Error('database is locked')) })
    await seconds(45)
    expect(ended()).toBe(false)
    await seconds(16)
    expect(ended()).toBe(true)
  })

  it('ends within half a minute after its session was ended elsewhere, and at once where that is told', async () => {
    const [later, now] = [new LiveCalls(), new LiveCalls()]
    const taken = { recheck: async () => 0 }
    const [one, other] = [open(later, taken), open(now, taken)]
    await now.recheck()
    expect([one.ended(), other.ended()]).toEqual([false, true])
    await seconds(31)
    expect(one.ended()).toBe(true)
  })

  it('goes on for longer where its permission was prolonged', async () => {
    const { ended } = open(new LiveCalls(), { recheck: async () => Date.now() + 60_000 })
    await seconds(600)
    expect(ended()).toBe(false)
  })

  it('goes on where it was prolonged shortly before its end', async () => {
    const until = Date.now() + 20_000
    const { ended } = open(new LiveCalls(), { until, recheck: async () => until + 60_000 })
    await seconds(25)
    expect(ended()).toBe(false)
    await seconds(60)
    expect(ended()).toBe(true)
  })

  it('that does not end when it must is cut off', async () => {
    const calls = new LiveCalls()
    const [deaf, good] = [open(calls), open(calls)]
    calls.endAll()
    good.response.emit('close')
    await seconds(1.1)
    expect([deaf.response.destroyed, good.response.destroyed]).toEqual([true, false])
  })

  it('leaves no timer behind', async () => {
    const calls = new LiveCalls()
    open(calls).response.emit('close')
    expect(vi.getTimerCount()).toBe(0)
  })
})

it('one holder has so many, and a place again when one has ended', () => {
  const calls = new LiveCalls()
  const all = Array.from({ length: 48 }, () => open(calls))
  expect(all.every(({ signal }) => signal !== null)).toBe(true)
  expect(open(calls).signal).toBeNull()
  expect(open(calls, { key: 'other' }).signal).not.toBeNull()
  all[0]?.response.emit('close')
  expect(open(calls).signal).not.toBeNull()
})
