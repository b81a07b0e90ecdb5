import { once } from 'node:events'
import http from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ask } from './open-listener.ts'
import { openSite } from './open-site.ts'

/** Of the same network as whoever shares its address, and of no other. */
const attacker = '127.0.0.2'
const halfHead = 'GET / HTTP/1.1\r\nHost: localhost\r\nX-Never: '
const halfBody =
  'POST /auth/link HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{'

/** Connections that never send all of what they begin. */
async function holdOpen(port: number, count: number, begun: string): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: attacker })
    socket
      .on('error', () => {})
      .resume()
      .write(begun)
    return socket
  })
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  return sockets
}

/** Answers and their ends, of a call that goes on. */
function openTail(url: string, headers: Record<string, string>, localAddress: string): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = http.request(`${url}/api/watch`, { method: 'POST', headers, agent: false, localAddress })
    request.on('response', resolve).on('error', reject).end('{}')
  })
}

describe('connections that are held open', () => {
  it.each([
    ['half a head', halfHead],
    ['half a body', halfBody],
  ])('with %s keep nobody out', async (_name, begun) => {
    const { listener, url, headersOf, addOperator, enter } = await openSite()
    const headers = headersOf(await enter(await addOperator('anna')))
    const stream = await openTail(url, headers, attacker)
    let ended = false
    stream.on('close', () => (ended = true)).resume()
    const sockets = await holdOpen(listener.port, 600, begun)
    for (const localAddress of ['127.0.0.1', attacker]) {
      const answer = await ask(`${url}/api/projects/list`, { method: 'POST', headers, localAddress, body: '{}' })
      expect(answer.status).toBe(200)
    }
    expect(ended).toBe(false)
    await expect.poll(() => sockets.filter((socket) => !socket.destroyed).length).toBeLessThanOrEqual(48)
    stream.destroy()
  })

  it('are let go soon', async () => {
    const { listener } = await openSite()
    const [socket] = await holdOpen(listener.port, 1, halfHead)
    if (socket === undefined) throw new Error('there is no connection')
    // A byte now and then does not help.
    const timer = setInterval(() => socket.write('x'), 200)
    onTestFinished(() => clearInterval(timer))
    socket.resume()
    await once(socket, 'close')
  })
})
