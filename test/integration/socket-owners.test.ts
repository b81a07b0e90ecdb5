import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { dial, Refused, type SocketProvider, startSocketProvider } from '../support/sockets.ts'

// The whole gateway, since whose an object is the store knows.
let gateway: TestGateway
let provider: SocketProvider
const keys = { own: '', foreign: '' }

beforeAll(async () => {
  provider = await startSocketProvider()
  gateway = await startGateway()
  const { admin } = gateway
  await admin.providers.add({
    ...{ name: 'openai', kind: 'openai', baseUrl: `${provider.baseUrl}/v1` },
    ...{ credential: 'sk-provider', skipCheck: true },
  })
  await admin.projects.add({ name: 'other' })
  await admin.environments.add({ name: 'production', project: 'other' })
  for (const project of ['default', 'other']) await gateway.addRoute('words', ['openai'], { project })
  keys.own = (await gateway.createKey('own')).key
  keys.foreign = (await gateway.createKey('foreign', { project: 'other', environment: 'production' })).key
}, 60_000)
afterAll(async () => {
  await gateway.stop()
  await provider.stop()
})

const open = (key: string, path = '/v1/responses') =>
  dial(`${gateway.baseUrl}${path}`, { headers: { authorization: `Bearer ${key}` } })
const create = (more: object = {}) => ({ type: 'response.create', model: 'words', input: 'hi', ...more })

describe('what was made on a WebSocket', () => {
  it('belongs to who made it', { timeout: 30_000 }, async () => {
    const first = await open(keys.own)
    first.send(create())
    const { end: far } = await provider.accepted()
    await far.next()
    far.send({ type: 'response.created', response: { id: 'resp_mine', object: 'response' } })
    await first.nextJson()
    first.socket.close(1000)
    await far.closed

    const stranger = await open(keys.foreign)
    stranger.send(create({ previous_response_id: 'resp_mine' }))
    expect(await stranger.nextJson()).toMatchObject({ type: 'error', error: { code: 'object_not_found' } })
    expect(await stranger.closed).toMatchObject({ code: 1008 })
    expect(await gateway.record(stranger.requestId)).toMatchObject({
      error: { code: 'object_not_found' },
      attempts: [],
    })

    // On a connection that stands already too.
    const second = await open(keys.foreign)
    second.send(create())
    const { end: other } = await provider.accepted()
    await other.next()
    second.send(create({ previous_response_id: 'resp_mine' }))
    expect(await second.nextJson()).toMatchObject({ type: 'error', error: { code: 'object_not_found' } })
    second.send(create({ instructions: 'still open' }))
    expect((await other.next()).text).toContain('still open')
    second.socket.close(1000)

    const again = await open(keys.own)
    again.send(create({ previous_response_id: 'resp_mine' }))
    const { end: same } = await provider.accepted()
    expect((await same.next()).text).toContain('resp_mine')
    again.socket.close(1000)
    await same.closed
  })

  it('a call that nobody made here is nobody’s to listen in on', async () => {
    const refused = await open(keys.own, '/v1/realtime?call_id=rtc_foreign').catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(Refused)
    expect(refused).toMatchObject({ status: 404, headers: { 'x-sp-error': 'object_not_found' } })
    const sideband = await open(keys.own, '/v1/live/sessions/sess_foreign/attach').catch((error: unknown) => error)
    expect(sideband).toMatchObject({ status: 404, headers: { 'x-sp-error': 'object_not_found' } })
  })
})

describe('a connection that stands', () => {
  it('ends with its key, and with the gateway', { timeout: 30_000 }, async () => {
    const doomed = await gateway.createKey('doomed')
    const one = await open(doomed.key)
    one.send(create())
    const { end: far } = await provider.accepted()
    await far.next()
    expect((await gateway.spgw(['keys', 'revoke', 'doomed', '--close-streams', '--yes'])).code).toBe(0)
    expect(await one.closed).toMatchObject({ code: 1008 })
    expect(await far.closed).toMatchObject({ code: 1001 })
    expect(await gateway.record(one.requestId)).toMatchObject({ status: 101, error: { code: 'invalid_key' } })
    const last = await open(keys.own)
    last.send(create())
    const { end } = await provider.accepted()
    await end.next()
    const ended = gateway.kill('SIGTERM')
    expect(await last.closed).toMatchObject({ code: 1012 })
    expect(await ended).toBe(0)
  })
})

describe('a thread that dies', () => {
  it('tells the connections that it has, and they are recorded', { timeout: 30_000 }, async () => {
    // The second call that is admitted meets the fault.
    const environment = { SPGW_GATEWAY_WORKERS: '1', SPGW_FAULT_POINT: 'journal.after-admitted:2:throw:1' }
    const dying = await startGateway({ environment })
    const { admin } = dying
    await admin.providers.add({
      ...{ name: 'openai', kind: 'openai', baseUrl: `${provider.baseUrl}/v1` },
      ...{ credential: 'sk-provider', skipCheck: true },
    })
    await dying.addRoute('words', ['openai'])
    const { key } = await dying.createKey('own')
    const dialled = () => dial(`${dying.baseUrl}/v1/responses`, { headers: { authorization: `Bearer ${key}` } })
    const [one, two] = [await dialled(), await dialled()]
    one.send(create())
    const { end: far } = await provider.accepted()
    await far.next()
    two.send(create())
    expect(await one.nextJson()).toMatchObject({ type: 'error', error: { code: 'internal' } })
    for (const client of [one, two]) {
      expect(await client.closed).toMatchObject({ code: 1011 })
      expect(await dying.record(client.requestId)).toMatchObject({ status: 101, error: { code: 'internal' } })
    }
    expect(await far.closed).toMatchObject({ code: 1001 })
    await dying.stop()
  })
})
