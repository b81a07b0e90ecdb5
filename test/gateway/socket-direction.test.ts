import { expect, it } from 'vitest'
import { nextTurn } from '../../src/core/threads/slices.ts'
import { Direction } from '../../src/gateway/sockets/direction.ts'
import type { Frame, Peer } from '../../src/providers/socket-peer.ts'

/** A side that takes everything. */
function fakePeer(sent: Frame[] = []): Peer {
  const peer: Partial<Peer> = { waiting: 0, pause() {}, resume() {}, send: (frame) => void sent.push(frame) }
  return peer as Peer
}

it('passes a flood of frames in several turns, in order, and ends behind the last', async () => {
  const sent: Frame[] = []
  const direction = new Direction(
    fakePeer(),
    fakePeer(sent),
    (frame) => frame,
    () => expect.unreachable(),
  )
  const frames = Array.from({ length: 2000 }, (_, at) => ({ bytes: Buffer.from(String(at)), binary: false }))
  for (const frame of frames) direction.pass(frame)
  expect(sent.length).toBeLessThan(256)
  let ended = false
  direction.end(() => (ended = true))
  for (let turn = 0; sent.length < frames.length; turn++) {
    expect([sent.length <= 256 * (turn + 1), ended]).toEqual([true, false])
    await nextTurn()
  }
  expect(sent).toEqual(frames)
  expect(ended).toBe(true)
})
