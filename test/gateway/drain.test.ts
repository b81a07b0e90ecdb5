import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'

let plane: DataPlane
afterEach(() => plane.stop())

interface Client {
  socket: Socket
  said(): string
  ask(path: string, more?: string): void
  heard(text: string): Promise<void>
}

async function dial(): Promise<Client> {
  const socket = connect(Number(new URL(plane.baseUrl).port), '127.0.0.1')
  let said = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    said += text
  })
  await once(socket, 'connect')
  return {
    socket,
    said: () => said,
    ask: (path, more = '') =>
      void socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${plane.key}\r\n${more}\r\n`),
    heard: async (text) => {
      while (!said.includes(text)) await once(socket, 'data')
    },
  }
}

it('answers nobody from when its listener closes until it is told that all others are closed', async () => {
  plane = await startDataPlane({ providers: [] })
  const [client, witness] = await Promise.all([dial(), dial()])
  plane.tell({ type: 'stop-listening' })
  await plane.hear('stopped-listening')
  client.ask('/v1/models')
  // Probes are answered at once; this one was asked later.
  witness.ask('/healthz')
  await witness.heard('HTTP/1.1 200')
  expect(client.said()).toBe('')
  const drained = plane.drain(1000)
  await client.heard('HTTP/1.1 200')
  expect(client.said()).toMatch(/connection: close/i)
  witness.socket.destroy()
  await drained
})
