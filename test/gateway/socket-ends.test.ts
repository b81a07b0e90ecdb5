import { once } from 'node:events'
import net from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { makeRoute, makeTarget } from '../support/snapshot.ts'
import { dial, type SocketProvider, startSocketProvider } from '../support/sockets.ts'

let provider: SocketProvider
let plane: DataPlane
/** On which no side may be silent for long. */
let hasty: DataPlane

async function start(heldLimit = 2_000_000_000, timeouts: { betweenChunks?: number } = {}): Promise<DataPlane> {
  return startDataPlane({
    heldLimit,
    providers: [{ kind: 'openai', baseUrl: `${provider.baseUrl}/v1`, credentials: ['sk-provider-credential'] }],
    routes: [makeRoute('voice', [makeTarget('openai')], { retries: 0 })],
    timeouts,
  })
}

beforeAll(async () => {
  provider = await startSocketProvider()
  plane = await start()
  hasty = await start(2_000_000_000, { betweenChunks: 900 })
})
afterEach(async () => {
  while (plane.inFlight() + hasty.inFlight() > 0) await new Promise((resolve) => setTimeout(resolve, 2))
})
afterAll(async () => {
  await plane.stop()
  await hasty.stop()
  await provider.stop()
})

async function connect(to = plane) {
  const headers = { authorization: `Bearer ${to.key}` }
  const [client, { end }] = await Promise.all([
    dial(`${to.baseUrl}/v1/realtime?model=voice`, { headers, autoPong: true }),
    provider.accepted(),
  ])
  end.socket.on('ping', (bytes) => end.socket.pong(bytes))
  return { client, far: end }
}

/** The provider says something, and the client has it. */
async function answer({ client, far }: Awaited<ReturnType<typeof connect>>, event: object): Promise<void> {
  far.send(event)
  await client.next()
}

describe('how a connection ends', () => {
  it('that holds more of a message than there is room for: with the advice to come again', async () => {
    const narrow = await start(2 * 1024 * 1024)
    const { client, far } = await connect(narrow)
    const frame = JSON.stringify({ type: 'input_audio_buffer.append', audio: 'A'.repeat(1_500_000) })
    client.socket.send(frame)
    expect((await far.next()).text === frame).toBe(true)
    expect(narrow.held()).toBe(0)
    const head = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0x40, 0, 0, 1, 2, 3, 4])
    rawOf(client.socket).write(Buffer.concat([head, Buffer.alloc(2_500_000)]))
    expect(await client.nextJson()).toMatchObject({ type: 'error', error: { code: 'overloaded' } })
    expect(await client.closed).toMatchObject({ code: 1013 })
    expect(await narrow.record(client.requestId)).toMatchObject({ error: { code: 'overloaded' } })
    expect(narrow.held()).toBe(0)

    const second = await connect(narrow)
    rawOf(second.far.socket).write(
      Buffer.concat([Buffer.from([0x81, 0x7f, 0, 0, 0, 0, 0, 0x40, 0, 0]), Buffer.alloc(2_500_000)]),
    )
    expect(await second.client.nextJson()).toMatchObject({ type: 'error', error: { code: 'overloaded' } })
    expect(await second.client.closed).toMatchObject({ code: 1013 })
    expect(narrow.held()).toBe(0)
    await narrow.stop()
  })

  it('cut by the provider: in an error frame, and a code', async () => {
    const { client, far } = await connect()
    await answer({ client, far }, { type: 'response.created', response: { id: 'resp_1' } })
    far.socket.terminate()
    expect(await client.nextJson()).toMatchObject({ type: 'error', error: { code: 'provider_bad_response' } })
    expect(await client.closed).toMatchObject({ code: 1011 })
    expect(await plane.record(client.requestId)).toMatchObject({ error: { code: 'provider_bad_response' } })
  })

  it('by the provider without a code: without one', async () => {
    const { client, far } = await connect()
    far.socket.close()
    expect(await client.closed).toEqual({ code: 1005, reason: '' })
    expect(await plane.record(client.requestId)).toMatchObject({ status: 101, error: null })
  })

  it('by a provider whose bytes are no frames: as one that broke off', async () => {
    const { client, far } = await connect()
    rawOf(far.socket).write(Buffer.from([0xff, 0xff, 0xff, 0xff]))
    expect(await client.nextJson()).toMatchObject({ type: 'error', error: { code: 'provider_bad_response' } })
    expect(await client.closed).toMatchObject({ code: 1011 })
    expect(await far.closed).toMatchObject({ code: 1002 })
  })

  it('by a client that is gone without a word: the provider is told, the record says so', async () => {
    const { client, far } = await connect()
    await answer({ client, far }, { type: 'response.created', response: { id: 'resp_1' } })
    client.socket.terminate()
    expect(await far.closed).toMatchObject({ code: 1001 })
    expect(await plane.record(client.requestId)).toMatchObject({ status: 101, error: { code: 'client_closed' } })
  })

  it('by a client that is gone before its response has begun: the record says so', async () => {
    const { client, far } = await connect()
    client.send({ type: 'response.create' })
    await far.next()
    client.socket.terminate()
    expect(await plane.record(client.requestId)).toMatchObject({ error: { code: 'client_closed' } })
  })

  it.each(['client', 'provider'] as const)(
    'by the %s without a word, with no response in progress: normally',
    async (who) => {
      const idle = await connect()
      if (who === 'client') idle.client.socket.terminate()
      else idle.far.socket.terminate()
      expect(await plane.record(idle.client.requestId)).toMatchObject({ status: 101, error: null })

      const both = await connect()
      both.client.send({ type: 'response.create' })
      await both.far.next()
      await answer(both, { type: 'response.created', response: { id: 'resp_1' } })
      await answer(both, { type: 'response.done', response: { id: 'resp_1', status: 'completed' } })
      if (who === 'client') both.client.socket.terminate()
      else both.far.socket.terminate()
      expect(await plane.record(both.client.requestId)).toMatchObject({ status: 101, error: null })
    },
  )

  it('after an error of the provider’s own: that is the record’s', async () => {
    const { client, far } = await connect()
    const message = 'Voice is not available with key sk-provider-credential'
    await answer({ client, far }, { type: 'error', error: { type: 'invalid_request_error', message } })
    client.socket.close(1000)
    const said = 'Voice is not available with key [credential]'
    const record = await plane.record(client.requestId)
    expect(record.error).toEqual({ code: 'provider_error', origin: 'provider', message: expect.any(String) })
    expect(record.error?.message).not.toContain('sk-provider-credential')
    expect(record.error?.message.slice(0, 28)).toBe(said.slice(0, 28))

    const failing = await connect()
    const status_details = { type: 'failed', error: { code: 'rate_limit_exceeded', message: 'Slow down' } }
    await answer(failing, { type: 'response.created', response: { id: 'resp_1' } })
    await answer(failing, { type: 'response.done', response: { id: 'resp_1', status: 'failed', status_details } })
    failing.client.socket.terminate()
    expect(await plane.record(failing.client.requestId)).toMatchObject({ error: { message: 'Slow down' } })
  })

  it('by the silence of a provider that answers no ping', async () => {
    const { client, far } = await connect(hasty)
    await answer({ client, far }, { type: 'response.created', response: { id: 'resp_1' } })
    far.socket.removeAllListeners('ping')
    expect(await client.nextJson()).toMatchObject({ type: 'error', error: { code: 'provider_timeout' } })
    expect(await client.closed).toMatchObject({ code: 1011 })
    expect(await hasty.record(client.requestId)).toMatchObject({ error: { code: 'provider_timeout' } })
  })

  it('by the silence of a client that answers no ping', async () => {
    const { client, far } = await connect(hasty)
    await answer({ client, far }, { type: 'response.created', response: { id: 'resp_1' } })
    client.socket.pause()
    expect(await far.closed).toMatchObject({ code: 1001 })
    expect(await hasty.record(client.requestId)).toMatchObject({ error: { code: 'client_closed' } })
    client.socket.terminate()
  })

  it('never by a silence in which pings are answered, and nobody hears of them', async () => {
    const { client, far } = await connect(hasty)
    let pongs = 0
    for (const { socket } of [client, far]) socket.on('pong', () => pongs++)
    let pings = 0
    const enough = new Promise<void>((resolve) => client.socket.on('ping', () => ++pings === 3 && resolve()))
    await enough
    expect(pongs).toBe(0)
    far.socket.send('still here')
    expect((await client.next()).text).toBe('still here')
    client.socket.close(1000)
    await far.closed
    expect(await hasty.record(client.requestId)).toMatchObject({ error: null })
  })

  it('by the revocation of its key', async () => {
    const { client, far } = await connect()
    await plane.changeKey({ revokedAt: 1 })
    plane.tell({ type: 'close-streams', keyId: 'key_1' })
    expect(await client.nextJson()).toMatchObject({ type: 'error', error: { code: 'invalid_key' } })
    expect(await client.closed).toEqual({ code: 1008, reason: expect.stringMatching(/^invalid_key: /) })
    expect(await far.closed).toMatchObject({ code: 1001 })
    expect(await plane.record(client.requestId)).toMatchObject({ error: { code: 'invalid_key' } })
    await plane.changeKey({ revokedAt: null })
  })

  it('when the gateway stops: at once where nothing is under way, else when it must', async () => {
    const own = await start()
    const [idle, busy] = [await connect(own), await connect(own)]
    busy.far.send({ type: 'response.created', response: { id: 'resp_1' } })
    await busy.client.next()
    const drained = own.drain(300)
    expect(await idle.client.closed).toMatchObject({ code: 1012 })
    expect(await idle.far.closed).toMatchObject({ code: 1001 })
    busy.far.send({ type: 'response.output_text.delta', delta: 'x' })
    expect(await busy.client.nextJson()).toMatchObject({ delta: 'x' })
    expect(await busy.client.closed).toMatchObject({ code: 1012 })
    expect(await own.record(idle.client.requestId)).toMatchObject({ error: null })
    expect(await own.record(busy.client.requestId)).toMatchObject({ error: { code: 'overloaded' } })
    await drained
    await own.stop()
  })
})

describe('hostile sides', () => {
  it('a message larger than the limit: refused from its head on, with 1009', async () => {
    const { client, far } = await connect()
    const head = Buffer.alloc(14)
    head.set([0x82, 0xff])
    head.writeBigUInt64BE(100_000_001n, 2)
    rawOf(client.socket).write(head)
    expect(await client.closed).toMatchObject({ code: 1009 })
    expect(await far.closed).toMatchObject({ code: 1001 })
    expect(await plane.record(client.requestId)).toMatchObject({ error: { code: 'request_too_large' } })
  })

  it.each([
    ['unmasked', Buffer.from([0x81, 0x01, 0x61]), 1002],
    ['with a reserved bit', Buffer.from([0xc1, 0x80, 0, 0, 0, 0]), 1002],
    ['that continue nothing', Buffer.from([0x80, 0x80, 0, 0, 0, 0]), 1002],
    ['of text that is no UTF-8', Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0xc3, 0x28]), 1007],
    ['that close with a code that nobody may send', Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xee]), 1002],
  ])('frames %s', async (_name, bytes, code) => {
    const { client, far } = await connect()
    rawOf(client.socket).write(bytes)
    expect(await client.closed).toMatchObject({ code })
    expect(await far.closed).toMatchObject({ code: 1001 })
    expect(await plane.record(client.requestId)).toMatchObject({ error: { code: 'invalid_request' } })
  })

  it('frames before the handshake is answered wait for it', async () => {
    const { hostname, port } = new URL(plane.baseUrl)
    const socket = net.connect(Number(port), hostname)
    const lines = ['GET /v1/realtime?model=voice HTTP/1.1', 'host: x', `authorization: Bearer ${plane.key}`]
    lines.push('connection: Upgrade', 'upgrade: websocket', 'sec-websocket-version: 13')
    lines.push('sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==', '', '')
    socket.write(Buffer.concat([Buffer.from(lines.join('\r\n')), Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x7b, 0x7d])]))
    const { end: far } = await provider.accepted()
    expect((await far.next()).text).toBe('{}')
    socket.destroy()
    await far.closed
  })

  it('who was refused, and stays, is hung up on', async () => {
    const { hostname, port } = new URL(plane.baseUrl)
    const socket = net.connect({ port: Number(port), host: hostname, allowHalfOpen: true })
    const lines = ['GET /v1/realtime?model=voice HTTP/1.1', 'host: x', 'connection: Upgrade', 'upgrade: websocket']
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    let text = ''
    socket.on('data', (chunk) => (text += chunk)).on('error', () => {})
    await once(socket, 'end')
    expect(text).toMatch(/^HTTP\/1\.1 401 .*x-sp-request-id: req_.*missing_key/s)
    const knocking = setInterval(() => socket.write('still here'), 20)
    await new Promise((resolve) => socket.once('close', resolve))
    clearInterval(knocking)
  })

  it('an offer of another protocol is answered in this one', async () => {
    const headers = { authorization: `Bearer ${plane.key}`, connection: 'Upgrade', upgrade: 'h2c' }
    const { hostname, port } = new URL(plane.baseUrl)
    const socket = net.connect(Number(port), hostname)
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`GET /v1/models HTTP/1.1\r\nhost: x\r\n${lines.join('')}\r\n`)
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /)
    socket.destroy()
  })

  it('a reader that takes nothing makes the other side wait', async () => {
    const { client, far } = await connect(hasty)
    client.socket.pause()
    const chunk = Buffer.alloc(1024 * 1024, 0x61)
    let taken = 0
    // As long as the gateway takes it: with bounded memory it stops to.
    const flood = (async () => {
      while (taken < 64 && far.socket.readyState === far.socket.OPEN) {
        await new Promise((resolve) => far.socket.send(chunk, resolve))
        taken++
      }
    })()
    await once(far.socket, 'close')
    await flood
    expect(taken).toBeLessThan(32)
    expect(await hasty.record(client.requestId)).toMatchObject({ status: 101, error: null })
    client.socket.terminate()
  })

  it('of a flood of pings the last is passed on, and what comes behind it', async () => {
    const { client, far } = await connect()
    let pings = 0
    far.socket.on('ping', () => pings++)
    const last = new Promise((resolve) => far.socket.on('ping', (bytes) => String(bytes) === 'last' && resolve(null)))
    rawOf(client.socket).write(Buffer.alloc(600_000, Buffer.from([0x89, 0x80, 0, 0, 0, 0])))
    client.socket.ping('last')
    client.send({ type: 'input_audio_buffer.commit' })
    await last
    expect(await far.nextJson()).toEqual({ type: 'input_audio_buffer.commit' })
    // One a chunk that was read.
    expect(pings).toBeLessThan(1000)
    client.socket.terminate()
  })
})

/** The connection below: to send on it what no library would. */
function rawOf(socket: object): net.Socket {
  const raw = '_socket' in socket ? socket._socket : null
  if (!(raw instanceof net.Socket)) throw new Error('the WebSocket has no connection')
  return raw
}
