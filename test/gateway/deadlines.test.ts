import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { LivePeer, watchPeers } from '../../src/gateway/sockets/ping.ts'
import { Deadline, Deadlines } from '../../src/gateway/thread/deadlines.ts'
import type { Peer } from '../../src/providers/socket-peer.ts'

let now: number
beforeEach(() => {
  now = 1000
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  vi.spyOn(performance, 'now').mockImplementation(() => now)
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

function run(milliseconds: number): void {
  for (let left = milliseconds; left > 0; left -= 25) {
    now += 25
    vi.advanceTimersByTime(25)
  }
}

/** Time passes in which this process is not run. */
function hold(milliseconds: number): void {
  now += milliseconds
  vi.advanceTimersByTime(25)
}

function arm(deadlines: Deadlines, milliseconds: number) {
  const fire = vi.fn(() => deadlines.remove(deadline))
  const deadline = new Deadline(fire)
  deadline.at = now + milliseconds
  deadlines.add(deadline)
  return fire
}

describe('a time limit', () => {
  it('fires when its time has come, and once', () => {
    const fire = arm(new Deadlines(), 1000)
    run(975)
    expect(fire).not.toHaveBeenCalled()
    run(1000)
    expect(fire).toHaveBeenCalledTimes(1)
  })

  it('is put off by the time in which the process was not run', () => {
    const fire = arm(new Deadlines(), 1000)
    run(500)
    hold(5000)
    run(450)
    expect(fire).not.toHaveBeenCalled()
    run(100)
    expect(fire).toHaveBeenCalledTimes(1)
  })

  it('counts a busy turn as time', () => {
    const fire = arm(new Deadlines(), 1000)
    for (let turn = 0; turn < 3; turn++) hold(400)
    expect(fire).toHaveBeenCalledTimes(1)
  })

  it('that begins after a rest is not put off by it', () => {
    const deadlines = new Deadlines()
    arm(deadlines, 100)
    run(100)
    run(50)
    now += 60_000
    const fire = arm(deadlines, 1000)
    run(1050)
    expect(fire).toHaveBeenCalledTimes(1)
  })
})

it('a side of a connection is dead only after it was asked, however long this process was not run', () => {
  const ping = vi.fn()
  const pulse = new LivePeer({ paused: false, ping } as unknown as Peer)
  const onDead = vi.fn()
  watchPeers(new Deadlines(), 1000, () => [pulse], onDead)
  run(100)
  hold(30_000)
  run(500)
  expect(ping).toHaveBeenCalledTimes(1)
  expect(onDead).not.toHaveBeenCalled()
  run(600)
  expect(onDead).toHaveBeenCalledTimes(1)
})
