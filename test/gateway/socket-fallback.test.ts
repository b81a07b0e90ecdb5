import OpenAI from 'openai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { makeRoute, makeTarget } from '../support/snapshot.ts'
import { dial, Refused, type SocketProvider, startSocketProvider } from '../support/sockets.ts'

let provider: SocketProvider
const planes: DataPlane[] = []

async function start(...providers: { kind: string; name: string; settings?: Record<string, string> }[]) {
  const baseUrl = `${provider.baseUrl}/v1`
  const targets = providers.map(({ name }) => makeTarget(name))
  const plane = await startDataPlane({
    providers: providers.map((each) => ({ ...each, baseUrl })),
    routes: [makeRoute('m', targets, { retries: 0 })],
  })
  planes.push(plane)
  return plane
}

beforeAll(async () => {
  provider = await startSocketProvider()
})
afterAll(async () => {
  for (const plane of planes) await plane.stop()
  await provider.stop()
})

const connect = (plane: DataPlane) =>
  dial(`${plane.baseUrl}/v1/responses`, { headers: { authorization: `Bearer ${plane.key}` } })

async function refusal(plane: DataPlane): Promise<Refused> {
  const refused = await connect(plane).catch((error: unknown) => error)
  if (!(refused instanceof Refused)) throw new Error('not refused')
  return refused
}

describe('Responses over WebSocket, where no provider of the key has it', () => {
  it('is answered 426 before the upgrade, and recorded', async () => {
    const vendor = { kind: 'openai-compatible', name: 'groq', settings: { preset: 'groq' } }
    const plane = await start(vendor, { kind: 'anthropic', name: 'claude' })
    const { status, headers, body } = await refusal(plane)
    expect([status, headers.upgrade, headers['x-sp-error']]).toEqual([426, 'HTTP/1.1', 'websocket_unavailable'])
    expect(JSON.parse(body)).toMatchObject({ error: { code: 'websocket_unavailable' } })
    const record = await plane.record(String(headers['x-sp-request-id']))
    expect(record).toMatchObject({
      status: 426,
      error: { code: 'websocket_unavailable', origin: 'client' },
      attempts: [],
    })
  })

  it('is what the SDK learns at once', async () => {
    const plane = await start({ kind: 'openai-compatible', name: 'groq', settings: { preset: 'groq' } })
    const client = new OpenAI({ apiKey: plane.key, baseURL: `${plane.baseUrl}/v1` })
    const socket = new ResponsesWS(client)
    const error = await new Promise<Error>((resolve) => socket.on('error', resolve))
    expect(error.message).toContain('426')
  })

  it('is known of a server without a preset once it has refused a handshake', async () => {
    const plane = await start({ kind: 'openai-compatible', name: 'own' })
    provider.refuse(() => ({ status: 404, headers: {}, body: '{}' }))
    const first = await connect(plane)
    first.send({ type: 'response.create', model: 'm', input: 'hi' })
    expect(await first.nextJson()).toMatchObject({ type: 'error' })
    await first.closed
    expect((await refusal(plane)).status).toBe(426)
    provider.refuse(null)
    expect(plane.health(0, 1).state).toBe('ready')
  })

  it('stands where one of them has it', async () => {
    const vendor = { kind: 'openai-compatible', name: 'groq', settings: { preset: 'groq' } }
    const plane = await start(vendor, { kind: 'openai-compatible', name: 'xai', settings: { preset: 'xai' } })
    const client = await connect(plane)
    client.send({ type: 'response.create', model: 'm', input: 'hi' })
    const { end } = await provider.accepted()
    expect(JSON.parse((await end.next()).text)).toMatchObject({ model: 'm' })
    client.socket.close(1000)
    await end.closed
    expect(await plane.record(client.requestId)).toMatchObject({ provider: 'xai', error: null })
  })
})
