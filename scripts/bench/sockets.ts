import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { packageExecutable } from '../package.ts'
import { cpuMicros, residentBytes, start, untilQuiet } from './children.ts'
import type { Order } from './command-line.ts'
import type { Machine } from './machine.ts'
import type { Mock } from './mock.ts'
import { renderTable } from './report.ts'
import { prepareSpgw, type SpgwTarget } from './spgw.ts'

const connections = 1000
/** As many handshakes are under way at once. */
const atOnce = 50
const warmUps = 50
const idleSeconds = 10
const message = JSON.stringify({ type: 'input_audio_buffer.append', audio: 'A'.repeat(4000) })
const messagesEach = 20

/** What the packaged executable holds for WebSockets that stand and say nothing, in a table. Throws where one does not stand. */
export async function measureSockets(
  order: Order,
  machine: Machine,
  place: string,
  directory: string,
): Promise<string> {
  const executable = resolve(order.executable ?? (await packageExecutable(join(place, 'spgw-measured'))))
  const provider = start(machine, [process.execPath, join(import.meta.dirname, 'sockets-provider.ts')], {
    place: 'load',
  })
  const [first] = (await once(createInterface({ input: provider.stdout! }), 'line')) as [string]
  const mock = { port: Number(first.split(' ')[1]) } as Mock
  const begin = await prepareSpgw({ machine, mock, tls: null, directory, command: [executable], name: 'spgw' })
  const target = await begin()
  try {
    return await measure(target)
  } finally {
    await target.stop()
  }
}

async function measure(target: SpgwTarget): Promise<string> {
  const { port, headers } = target.reach({ path: '/' } as never)
  const url = `ws://127.0.0.1:${port}/v1/realtime?model=bench-voice`
  const rows: string[][] = []
  const note = async (name: string, of: number, before: number) => {
    await untilQuiet(target.pid, 3)
    const memory = residentBytes(target.pid)
    const each = of === 0 ? '' : `${((memory - before) / of / 1000).toFixed(1)} kB`
    rows.push([name, `${(memory / 1e6).toFixed(1)} MB`, each])
    return memory
  }
  await close(await open(url, headers, warmUps))
  const before = await note(`after ${warmUps} that are closed again`, 0, 0)
  const sockets = await open(url, headers, connections)
  await note(`${connections} that stand`, connections, before)
  const used = cpuMicros(target.pid)
  await sleep(idleSeconds * 1000)
  const percent = ((cpuMicros(target.pid) - used) / (idleSeconds * 1e6)) * 100
  await Promise.all(sockets.map((socket) => speak(socket)))
  await note(`after ${messagesEach} messages of 4 kB and their echo on each`, connections, before)
  await close(sockets)
  await note('after all are closed', 0, before)
  return `${renderTable(['', 'memory', 'for each connection'], rows)}\n\nProcessor time while they are silent: ${percent.toFixed(1)} % of a core.`
}

async function open(url: string, headers: Record<string, string>, count: number): Promise<WebSocket[]> {
  const sockets: WebSocket[] = []
  while (sockets.length < count) {
    const more = Array.from({ length: Math.min(atOnce, count - sockets.length) }, () => stand(url, headers))
    sockets.push(...(await Promise.all(more)))
  }
  return sockets
}

/** Resolves when the provider's greeting has come through. */
async function stand(url: string, headers: Record<string, string>): Promise<WebSocket> {
  const socket = new WebSocket(url, { headers, perMessageDeflate: false })
  await once(socket, 'message')
  return socket
}

async function speak(socket: WebSocket): Promise<void> {
  for (let left = messagesEach; left > 0; left--) {
    const heard = once(socket, 'message')
    socket.send(message)
    await heard
  }
}

async function close(sockets: readonly WebSocket[]): Promise<void> {
  await Promise.all(
    sockets.map((socket) => {
      const closed = once(socket, 'close')
      socket.close(1000)
      return closed
    }),
  )
}
