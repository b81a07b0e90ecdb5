import { once } from 'node:events'
import { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { HostileCase } from './case.ts'
import { fill, MB, values } from './shapes.ts'
import type { Stage } from './stage.ts'

/** What comes over a WebSocket, from the client and from the provider. */

type Flood = (socket: WebSocket) => void

/** Bytes as they are on the wire; a client's are masked, with zeros, which leave them as they are. */
function raw(socket: WebSocket, frame: Buffer, times: number): void {
  const underneath = Reflect.get(socket, '_socket')
  if (underneath instanceof Socket) underneath.write(Buffer.concat(Array.from({ length: times }, () => frame)))
}

const isClient = (socket: WebSocket) => Reflect.get(socket, '_isServer') === false
const frame = (socket: WebSocket, first: number, text = '') =>
  Buffer.from([
    first,
    (isClient(socket) ? 0x80 : 0) | text.length,
    ...(isClient(socket) ? [0, 0, 0, 0] : []),
    ...Buffer.from(text),
  ])

const event = (inner: string) => `{"type":"response.create","model":"openai-m","event_id":"a","response":${inner}}`
const floods: Record<string, Flood> = {
  pings: (socket) => raw(socket, frame(socket, 0x89), 200_000),
  'pings with a text': (socket) => raw(socket, frame(socket, 0x89, 'x'.repeat(100)), 100_000),
  pongs: (socket) => raw(socket, frame(socket, 0x8a), 300_000),
  'empty messages': (socket) => raw(socket, frame(socket, 0x81), 200_000),
  'small messages': (socket) => raw(socket, frame(socket, 0x81, '{"type":"a"}'), 100_000),
  'pieces of one message': (socket) => {
    raw(socket, frame(socket, 0x01, '{"type":"a"}'), 1)
    raw(socket, frame(socket, 0x00, ' '), 200_000)
    raw(socket, frame(socket, 0x80), 1)
  },
  'empty pieces': (socket) => {
    raw(socket, frame(socket, 0x01, '{}'), 1)
    raw(socket, frame(socket, 0x00), 300_000)
  },
  ...Object.fromEntries(
    [
      'escaped keys',
      'objects of many keys',
      'deep',
      'empty objects',
      'one text of escapes',
      'long numbers',
      'spaces',
    ].map((name): [string, Flood] => [
      `a message with ${name}`,
      (socket) => socket.send(event(values[name]?.(12 * MB) ?? '')),
    ]),
  ),
  'messages with many keys': (socket) => {
    for (let at = 0; at < 30; at++) socket.send(event(values['escaped keys']?.(400_000) ?? ''))
  },
  'a binary message': (socket) => socket.send(Buffer.alloc(15 * MB)),
  references: (socket) => socket.send(event(`{"input":[${fill(8 * MB, '{"type":"item_reference","id":"a"},')}1]}`)),
}

const paths = { realtime: '/v1/realtime?model=openai-m', responses: '/v1/responses' }

/** Until what was sent has been read, or the connection is closed for it: a ping after the flood is answered. */
async function settle(socket: WebSocket): Promise<string> {
  const closed = once(socket, 'close').then(([code]) => `closed ${String(code)}`)
  const signal = AbortSignal.timeout(20_000)
  const answered = once(socket, 'pong', { signal }).then(
    () => 'read',
    () => 'nothing came back',
  )
  if (socket.readyState === socket.OPEN) socket.ping('end')
  const outcome = await Promise.race([closed, answered])
  socket.terminate()
  return outcome
}

async function fromClient(stage: Stage, path: string, flood: Flood): Promise<string> {
  const socket = await stage.connect(path)
  flood(socket)
  return await settle(socket)
}

async function fromProvider(stage: Stage, path: string, flood: Flood): Promise<string> {
  const over = Promise.withResolvers<string>()
  stage.provider.onSocket = (socket) => {
    flood(socket)
    void settle(socket).then(over.resolve)
  }
  const socket = await stage.connect(path)
  // The Responses socket finds its provider by the first message.
  if (path.endsWith('responses')) socket.send('{"type":"response.create","model":"openai-m","input":"x"}')
  const outcome = await over.promise
  socket.terminate()
  return outcome
}

export const messageCases: readonly HostileCase[] = Object.entries(floods).flatMap(([name, flood]) =>
  Object.entries(paths).flatMap(([kind, path]): HostileCase[] => [
    {
      area: `socket, ${kind}, client`,
      name,
      sample: kind === 'realtime' && (name === 'pings' || name === 'a message with escaped keys'),
      run: (stage) => fromClient(stage, path, flood),
    },
    { area: `socket, ${kind}, provider`, name, run: (stage) => fromProvider(stage, path, flood) },
  ]),
)
