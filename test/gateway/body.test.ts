import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import net from 'node:net'
import zlib from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mintGatewayKey } from '../../src/core/secrets/gateway-key.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { listen } from '../support/listen.ts'

let provider: http.Server
let plane: DataPlane

beforeAll(async () => {
  provider = http.createServer(async (request, response) => {
    let size = 0
    let checksum = 0
    for await (const chunk of request) {
      size += (chunk as Buffer).length
      checksum = zlib.crc32(chunk as Buffer, checksum)
    }
    response
      .writeHead(200, { 'content-type': 'application/json', 'x-checksum': checksum })
      .end(JSON.stringify({ choices: [], size, encoding: request.headers['content-encoding'] ?? null }))
  })
  const baseUrl = `${await listen(provider)}/v1`
  plane = await startDataPlane({ providers: [{ kind: 'openai', baseUrl }] })
})

afterAll(async () => {
  await plane.stop()
  provider.close()
})

function post(key: string, headers: Record<string, string | number> = {}) {
  const all = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers }
  return http.request(`${plane.baseUrl}/v1/chat/completions`, { method: 'POST', headers: all })
}

async function answerOf(request: http.ClientRequest): Promise<{ status: number; text: string; checksum: number }> {
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode ?? 0, text, checksum: Number(response.headers['x-checksum']) }
}

const small = JSON.stringify({ model: 'openai-model', messages: [] })

const fast = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }

/** Texts that come to about a fiftieth. */
function lines(bytes: number): Buffer {
  const line = Buffer.alloc(100, 'spgw')
  const whole = Buffer.alloc(bytes)
  for (let at = 0; at < bytes; at += line.length) {
    line.writeUInt32LE((at * 2654435761) >>> 0, 0)
    line.copy(whole, at)
  }
  return whole
}

describe('a body', () => {
  it('that is refused by its length is still taken in, so that the client reads why', async () => {
    const body = Buffer.alloc(110_000_000, ' ')
    const request = post(plane.key, { 'content-length': body.length })
    request.end(body)
    expect(await answerOf(request)).toMatchObject({ status: 413, text: expect.stringContaining('100 MB') })
  })

  it('without a length is refused as soon as it is too large', async () => {
    const request = post(plane.key)
    const piece = Buffer.alloc(1_000_000, ' ')
    request.on('error', () => {})
    const answer = answerOf(request)
    // Writes only until it is refused: the answer may end the wait for a drain that never comes.
    let refused = false
    void answer.then(() => (refused = true))
    for (let sent = 0; sent < 105 && !refused; sent++) {
      if (!request.write(piece)) await Promise.race([once(request, 'drain'), answer])
    }
    expect((await answer).status).toBe(413)
    request.destroy()
  })

  it('is asked for only when the key is good', async () => {
    const good = post(plane.key, { expect: '100-continue', 'content-length': small.length })
    good.flushHeaders()
    await once(good, 'continue')
    good.end(small)
    expect((await answerOf(good)).status).toBe(200)

    const bad = post(mintGatewayKey(), { expect: '100-continue', 'content-length': small.length })
    let asked = false
    bad.on('continue', () => (asked = true))
    bad.flushHeaders()
    expect((await answerOf(bad)).status).toBe(401)
    expect(asked).toBe(false)
    bad.destroy()
  })

  it('that breaks off harms nothing else', async () => {
    const { hostname, port } = new URL(plane.baseUrl)
    const socket = net.connect(Number(port), hostname)
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${plane.key}\r\ncontent-length: 100\r\n\r\n{"model"`,
    )
    socket.destroySoon()
    await once(socket, 'close')
    const request = post(plane.key)
    request.end(small)
    expect((await answerOf(request)).status).toBe(200)
  })

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['gzip', zlib.gzipSync],
    ['x-gzip', zlib.gzipSync],
    ['deflate', zlib.deflateSync],
    ['br', zlib.brotliCompressSync],
    ['zstd', zlib.zstdCompressSync],
    ['GZip', zlib.gzipSync],
  ])('in %s goes up as it was before', async (encoding, compress) => {
    const body = Buffer.from(
      JSON.stringify({ model: 'openai-model', messages: [{ content: randomBytes(200_000).toString('hex') }] }),
    )
    const request = post(plane.key, { 'content-encoding': encoding })
    request.end(compress(body))
    const { status, text } = await answerOf(request)
    expect([status, text]).toEqual([200, JSON.stringify({ choices: [], size: body.length, encoding: null })])
  })

  it.each<[string, string, Buffer, number, string]>([
    ['in an encoding that nobody knows', 'lzma', Buffer.from('x'), 400, 'gzip, deflate, br or zstd'],
    ['in two encodings', 'gzip, gzip', zlib.gzipSync(zlib.gzipSync('{}')), 400, 'gzip, deflate, br or zstd'],
    ['that is not in the encoding it says', 'gzip', Buffer.from(small), 400, 'not valid gzip'],
    ['that is cut', 'gzip', zlib.gzipSync(small).subarray(0, -9), 400, 'not valid gzip'],
    ['that grows a thousandfold', 'gzip', zlib.gzipSync(Buffer.alloc(20_000_000)), 400, '200 to one'],
    ['that grows for ever', 'br', zlib.brotliCompressSync(Buffer.alloc(200_000_000), fast), 400, '200 to one'],
    ['that grows beyond the limit', 'zstd', zlib.zstdCompressSync(lines(120_000_000)), 413, '100 MB'],
  ])('%s is refused', async (_name, encoding, body, status, text) => {
    const request = post(plane.key, { 'content-encoding': encoding })
    request.end(body)
    expect(await answerOf(request)).toMatchObject({ status, text: expect.stringContaining(text) })
  })

  it('of a hundred megabytes passes, byte for byte', async () => {
    const body = Buffer.alloc(99_999_000, '0123456789abcdef-')
    const head = '{"model":"openai-model","messages":[],"user":"'
    body.write(head)
    body.write('"}', body.length - 2)
    const request = post(plane.key, { 'content-length': body.length })
    request.end(body)
    expect(await answerOf(request)).toMatchObject({ status: 200, checksum: zlib.crc32(body) })
  })

  it('in chunks of a byte passes', async () => {
    const { hostname, port } = new URL(plane.baseUrl)
    const socket = net.connect(Number(port), hostname)
    const body = Buffer.from(JSON.stringify({ model: 'openai-model', messages: [], user: 'x'.repeat(300_000) }))
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${plane.key}\r\ntransfer-encoding: chunked\r\n\r\n`,
    )
    socket.write(`${[...body.toString()].map((byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`)
    const [chunk] = await once(socket, 'data')
    expect(String(chunk)).toMatch(/^HTTP\/1.1 200 /)
    expect(String(chunk)).toContain(`"size":${body.length}`)
    socket.destroy()
  })
})
