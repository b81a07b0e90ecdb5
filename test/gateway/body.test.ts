import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mintGatewayKey } from '../../src/core/gateway-key.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'

let provider: http.Server
let plane: DataPlane

beforeAll(async () => {
  provider = http.createServer(async (request, response) => {
    let size = 0
    for await (const chunk of request) size += (chunk as Buffer).length
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices: [], size }))
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`
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

async function answerOf(request: http.ClientRequest): Promise<{ status: number; text: string }> {
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode ?? 0, text }
}

const small = JSON.stringify({ model: 'openai-model', messages: [] })

describe('a body', () => {
  it('that is refused by its length is still taken in, so that the client reads why', async () => {
    const body = Buffer.alloc(110_000_000, ' ')
    const request = post(plane.key, { 'content-length': body.length })
    request.end(body)
    expect(await answerOf(request)).toMatchObject({ status: 413, text: expect.stringContaining('100MB') })
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

  it('in an encoding that was not asked for is refused with the reason', async () => {
    const request = post(plane.key, { 'content-encoding': 'gzip' })
    request.end('not really gzip')
    expect(await answerOf(request)).toMatchObject({ status: 400, text: expect.stringContaining('gzip') })
  })
})
