import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Repeater } from '../../src/cluster/repeater.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Each run waits until it is let go. */
class Runs {
  begun = 0
  most = 0
  #running: (() => void)[] = []
  readonly repeater = new Repeater(1000, async () => {
    this.begun++
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#running.push(resolve)
    this.most = Math.max(this.most, this.#running.length)
    await promise
  })

  async end(): Promise<void> {
    this.#running.shift()?.()
    await vi.advanceTimersByTimeAsync(0)
  }
}

describe('what is repeated', () => {
  it('begins with the first that wakes it, and not before', async () => {
    const runs = new Runs()
    await vi.advanceTimersByTimeAsync(5000)
    expect(runs.begun).toBe(0)
    runs.repeater.wake()
    expect(runs.begun).toBe(1)
  })

  it('runs again so long after its end, however long it took', async () => {
    const runs = new Runs()
    runs.repeater.wake()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(runs.begun).toBe(1)
    await runs.end()
    await vi.advanceTimersByTimeAsync(999)
    expect(runs.begun).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(runs.begun).toBe(2)
  })

  it('never runs twice at once, and once more after whatever woke it meanwhile', async () => {
    const runs = new Runs()
    for (let time = 0; time < 5; time++) runs.repeater.wake()
    expect(runs.begun).toBe(1)
    await runs.end()
    expect(runs.begun).toBe(2)
    await runs.end()
    expect(runs.begun).toBe(2)
    await vi.advanceTimersByTimeAsync(1000)
    expect([runs.begun, runs.most]).toEqual([3, 1])
  })

  it('that is woken between two runs has its next pause from then on', async () => {
    const runs = new Runs()
    runs.repeater.wake()
    await runs.end()
    await vi.advanceTimersByTimeAsync(900)
    runs.repeater.wake()
    await runs.end()
    await vi.advanceTimersByTimeAsync(999)
    expect(runs.begun).toBe(2)
    await vi.advanceTimersByTimeAsync(1)
    expect(runs.begun).toBe(3)
  })
})

describe('what is closed', () => {
  it('waits for the run that is under way, and begins no other', async () => {
    const runs = new Runs()
    runs.repeater.wake()
    runs.repeater.wake()
    let isClosed = false
    const closed = runs.repeater.close().then(() => {
      isClosed = true
    })
    await vi.advanceTimersByTimeAsync(5000)
    expect(isClosed).toBe(false)
    await runs.end()
    await closed
    runs.repeater.wake()
    await vi.advanceTimersByTimeAsync(5000)
    expect([isClosed, runs.begun, vi.getTimerCount()]).toEqual([true, 1, 0])
  })

  it('leaves no timer behind between two runs, nor where it never ran', async () => {
    const runs = new Runs()
    runs.repeater.wake()
    await runs.end()
    expect(vi.getTimerCount()).toBe(1)
    await runs.repeater.close()
    await new Runs().repeater.close()
    expect(vi.getTimerCount()).toBe(0)
  })
})
