import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { finishRequests } from '../../src/daemon/finish-requests.ts'
import { requestsInFlight } from '../../src/policy/counters.ts'

describe('waiting for what runs', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  const make = () => {
    const now = { running: 0, served: 0 }
    return { now, counters: { read: (row: number) => (row === requestsInFlight ? now.running : now.served) } }
  }

  it('is over when nothing runs and nothing new has come for a second', async () => {
    const { counters, now } = make()
    now.running = 2
    let running: number | null = null
    void finishRequests(counters, 5000).then((count) => (running = count))
    await vi.advanceTimersByTimeAsync(1500)
    now.running = 0
    now.served += 2
    await vi.advanceTimersByTimeAsync(600)
    // One that was begun and ended between two looks.
    now.served++
    await vi.advanceTimersByTimeAsync(600)
    expect(running).toBeNull()
    await vi.advanceTimersByTimeAsync(600)
    expect(running).toBe(0)
  })

  it('says at the limit what still runs', async () => {
    const { counters, now } = make()
    now.running = 3
    const finished = finishRequests(counters, 5000)
    await vi.advanceTimersByTimeAsync(5100)
    expect(await finished).toBe(3)
  })
})
