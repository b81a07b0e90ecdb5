import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import net, { type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { WebSocketServer } from 'ws'
import { HeldSocket, Peer, socketOptions } from '../../src/providers/socket-peer.ts'
import { listenOnPort } from '../support/listen.ts'

/** One end as the gateway has it, and the bare connection at the other. */
async function startPeer(): Promise<{ peer: Peer; far: Socket }> {
  const sockets = new WebSocketServer({ ...socketOptions, noServer: true, WebSocket: HeldSocket })
  const server = http.createServer()
  const accepted = new Promise<Peer>((resolve) =>
    server.on('upgrade', (request: IncomingMessage, connection: Socket, head: Buffer) =>
      sockets.handleUpgrade(request, connection, head, (socket) => resolve(new Peer(socket as HeldSocket, connection))),
    ),
  )
  const far = net.connect(await listenOnPort(server), '127.0.0.1')
  onTestFinished(() => {
    far.destroy()
    server.close()
  })
  far.write(
    'GET / HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  )
  const [peer] = await Promise.all([accepted, once(far, 'data')])
  return { peer, far }
}

it.each([
  ['pings', Buffer.from([0x89, 0x80, 0, 0, 0, 0])],
  ['messages', Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0x61])],
])('reads a flood of %s in several turns of the event loop, however fast it comes', async (_what, frame) => {
  const { peer, far } = await startPeer()
  const count = 200_000
  let seen = 0
  let inTurn = 0
  let most = 0
  const done = Promise.withResolvers<void>()
  const see = () => {
    if (inTurn++ === 0) setImmediate(() => (inTurn = 0))
    most = Math.max(most, inTurn)
    if (++seen === count) done.resolve()
  }
  const nothing = () => {}
  // All of it waits when reading begins.
  far.write(Buffer.alloc(count * frame.length, frame))
  await new Promise<void>((resolve) => setImmediate(resolve))
  peer.attach({
    onFrame: see,
    onPing: see,
    onPong: see,
    onPending: nothing,
    onWritten: nothing,
    onClosing: nothing,
  })
  await done.promise
  // What fits into one read.
  expect(most).toBeLessThanOrEqual(Math.ceil(65_536 / frame.length) + 1)
  peer.terminate()
})

it('stays paused for its owner while others have their turn', async () => {
  const { peer, far } = await startPeer()
  let seen = 0
  const nothing = () => {}
  peer.attach({
    onFrame: () => {
      seen++
      peer.pause()
    },
    onPing: nothing,
    onPong: nothing,
    onPending: nothing,
    onWritten: nothing,
    onClosing: nothing,
  })
  far.write(Buffer.alloc(1_000_000, Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0x61])))
  for (let turn = 0; turn < 200; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
  expect(seen).toBeLessThan(1_000_000 / 7 / 2)
  expect(peer.paused).toBe(true)
  peer.terminate()
})
