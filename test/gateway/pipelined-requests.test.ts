import { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { PipelinedRequests } from '../../src/gateway/thread/pipelined-requests.ts'

/** Counts what begins in each turn of the event loop until nothing is left. */
async function turnsOf(requests: PipelinedRequests, sockets: readonly Socket[]): Promise<number[]> {
  const turns = [0]
  let waiting = 0
  const began = () => turns.push((turns.pop() ?? 0) + 1)
  for (const socket of sockets) {
    const due = requests.whenDue(socket)
    if (due === null) began()
    else {
      waiting++
      void due.then(() => {
        began()
        waiting--
      })
    }
  }
  while (waiting > 0) {
    turns.push(0)
    await nextTurn()
  }
  return turns
}

describe('requests behind others on their connection', () => {
  it('begin at once while they are few', async () => {
    const socket = new Socket()
    expect(await turnsOf(new PipelinedRequests(), [socket, socket, socket])).toEqual([3])
    expect(socket.isPaused()).toBe(false)
  })

  it('begin a few a turn, of however many connections', async () => {
    const sockets = Array.from({ length: 10 }, () => new Socket())
    const turns = await turnsOf(
      new PipelinedRequests(),
      Array.from({ length: 1000 }, (_, at) => sockets[at % 10]!),
    )
    expect(Math.max(...turns)).toBe(32)
    expect(turns.reduce((sum, one) => sum + one)).toBe(1000)
  })

  it('keep their connection from being read until the last has begun, whoever asks for it', async () => {
    const requests = new PipelinedRequests()
    const socket = new Socket()
    const waiting = Array.from({ length: 100 }, () => requests.whenDue(socket)).filter((due) => due !== null)
    expect(waiting).toHaveLength(68)
    expect(socket.isPaused()).toBe(true)
    socket.resume()
    expect(socket.isPaused()).toBe(true)
    await waiting[60]
    expect(socket.isPaused()).toBe(true)
    await waiting[67]
    expect(socket.isPaused()).toBe(false)
  })
})
