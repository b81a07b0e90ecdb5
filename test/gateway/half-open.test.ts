import { once } from 'node:events'
import net from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'

let plane: DataPlane
beforeAll(async () => {
  plane = await startDataPlane({ providers: [] })
})
afterAll(() => plane.stop())

function connect(localAddress: string): net.Socket {
  const { port } = new URL(plane.baseUrl)
  return net.connect({ port: Number(port), host: '127.0.0.1', localAddress }).on('error', () => {})
}

it('one address leaves at most so many heads unfinished, and the oldest go', async () => {
  const other = connect('127.0.0.2')
  other.write('GET /healthz HTTP/1.1\r\n')
  const first = connect('127.0.0.1')
  first.write('GET /healthz HTTP/1.1\r\n')
  await once(first, 'connect')
  // One that has had its answer counts no more.
  const idle = connect('127.0.0.1')
  idle.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
  await once(idle, 'data')
  const more = Array.from({ length: 256 }, () => connect('127.0.0.1'))
  // As soon as it is older than a burst.
  for (; !first.destroyed; await new Promise((resolve) => setTimeout(resolve, 50))) more.push(connect('127.0.0.1'))
  const last = more.at(-1)
  for (const socket of [other, last]) {
    socket?.write(socket === other ? 'host: x\r\n\r\n' : 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
    const [answer]: Buffer[] = await once(socket ?? other, 'data')
    expect(answer?.toString()).toMatch(/^HTTP\/1\.1 200/)
  }
  expect(idle.destroyed).toBe(false)
  for (const socket of [other, idle, ...more]) socket.destroy()
})

it('a burst of one address, as of a proxy, is answered whole', async () => {
  const sockets = Array.from({ length: 600 }, () => connect('127.0.0.3'))
  const answers = sockets.map(async (socket) => {
    socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
    const [answer]: (Buffer | undefined)[] = await Promise.race([once(socket, 'data'), once(socket, 'close')])
    return String(answer).slice(0, 12)
  })
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['HTTP/1.1 200']))
  for (const socket of sockets) socket.destroy()
})
