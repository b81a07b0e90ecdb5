import { once } from 'node:events'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AnswerBody } from '../../src/gateway/answer/answer-body.ts'

const pieces = ['one', '', 'two', 'é'.repeat(9000), 'x'.repeat(100_000), 'end'].map((each) => Buffer.from(each))
const whole = Buffer.concat(pieces)
let server: http.Server
let port: number
let tell: (body: AnswerBody) => void

beforeEach(async () => {
  server = http.createServer((_request, response) => {
    response.writeHead(200, ['content-type', 'text/plain'])
    tell(new AnswerBody(response))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  port = (server.address() as AddressInfo).port
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
})
