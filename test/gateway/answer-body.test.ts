import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AnswerBody } from '../../src/gateway/answer/answer-body.ts'
import { listenOnPort } from '../support/listen.ts'

const pieces = ['one', '', 'two', 'é'.repeat(9000), 'x'.repeat(100_000), 'end'].map((each) => Buffer.from(each))
const whole = Buffer.concat(pieces)
let server: http.Server
let port: number
let response: http.ServerResponse
let tell: (body: AnswerBody) => void | Promise<void>

beforeEach(async () => {
  server = http.createServer((_request, made) => {
    response = made
    response.writeHead(200, ['content-type', 'text/plain'])
    void tell(new AnswerBody(response))
  })
  port = await listenOnPort(server)
})
afterEach(() => void server.close())

async function ask(): Promise<Buffer> {
  const [answer] = (await once(http.get({ host: '127.0.0.1', port, agent: false }), 'response')) as [
    http.IncomingMessage,
  ]
  return buffer(answer)
}

describe('the body of an answer of unknown length', () => {
  it('arrives whole when each piece is flushed', async () => {
    tell = (body) => {
      for (const piece of pieces) {
        body.add(piece)
        body.flush()
      }
      body.end()
    }
    expect(await ask()).toEqual(whole)
  })

  it('arrives whole when pieces go out together, the last of them with the end', async () => {
    tell = (body) => {
      for (const piece of pieces.slice(0, 3)) body.add(piece)
      body.flush()
      for (const piece of pieces.slice(3)) body.add(piece)
      body.end()
    }
    expect(await ask()).toEqual(whole)
  })

  it('is one chunk for what was added together', async () => {
    tell = (body) => {
      body.add(Buffer.from('ab'))
      body.add(Buffer.from('cd'))
      body.flush()
      body.end()
    }
    const socket = net.connect(port, '127.0.0.1').setEncoding('utf8')
    socket.end('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    expect((await text(socket)).split('\r\n\r\n').slice(1).join('\r\n\r\n')).toBe('4\r\nabcd\r\n0\r\n\r\n')
  })

  it('has no frames for a client of HTTP/1.0, which knows none', async () => {
    tell = (body) => {
      body.add(Buffer.from('plain'))
      body.flush()
      body.end()
    }
    const socket = net.connect(port, '127.0.0.1').setEncoding('utf8')
    socket.end('GET / HTTP/1.0\r\n\r\n')
    expect((await text(socket)).split('\r\n\r\n')[1]).toBe('plain')
  })

  it('says when the client reads too slowly', async () => {
    let full = false
    tell = (body) => {
      for (let time = 0; time < 200 && !full; time++) {
        body.add(Buffer.alloc(100_000))
        full = !body.flush()
      }
      body.end()
    }
    await ask()
    expect(full).toBe(true)
  })

  it('arrives whole in many turns, whoever waits, and however fast it is read', async () => {
    const sizes = fc.sample(fc.integer({ min: 0, max: 20_000 }), { numRuns: 400, seed: 7 })
    const sent = sizes.map((size, index) => Buffer.alloc(size, index % 251))
    tell = async (body) => {
      for (const [index, piece] of sent.entries()) {
        body.add(piece)
        body.flush()
        // Some in one turn, some in the turn after.
        if (index % 3 === 0) await nextTurn()
      }
      body.end()
    }
    expect((await ask()).equals(Buffer.concat(sent))).toBe(true)
  })

  it('says when it is full and when it is read again, also by way of the connection itself', async () => {
    const { promise: isFull, resolve: full } = Promise.withResolvers<void>()
    const piece = Buffer.alloc(10_000, 'x')
    let written = 0
    tell = async (body) => {
      for (let room = true; room; written += piece.length) {
        body.add(piece)
        room = body.flush()
        await nextTurn()
      }
      full()
      await once(response, 'drain')
      body.end()
    }
    const asked = http.get({ host: '127.0.0.1', port, agent: false })
    const [answer] = (await once(asked, 'response')) as [http.IncomingMessage]
    await isFull
    expect((await buffer(answer)).length).toBe(written)
  })

  it('writes nothing to a connection that is gone', async () => {
    const { promise: gone, resolve } = Promise.withResolvers<void>()
    tell = async (body) => {
      body.add(Buffer.from('one'))
      body.flush()
      await once(response, 'close')
      body.add(Buffer.from('two'))
      body.flush()
      body.end()
      resolve()
    }
    const socket = net.connect(port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    await once(socket, 'data')
    socket.destroy()
    await gone
  })
})
