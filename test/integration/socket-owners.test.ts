import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { dial, Refused, type SocketProvider, startSocketProvider } from '../support/sockets.ts'

// The whole gateway, since whose an object is the store knows.
let gateway: TestGateway
let provider: SocketProvider
const keys = { own: '', foreign: '' }

beforeAll(async () => {
  provider = await startSocketProvider()
  // A turn whose provider says nothing is waited for as long as this when the gateway ends.
  gateway = await startGateway({ environment: { SPGW_GATEWAY_DRAIN_TIMEOUT: '1s' } })
  const { admin } = gateway
  await admin.providers.add({
    ...{ name: 'openai', kind: 'openai', baseUrl: `${provider.baseUrl}/v1` },
    ...{ credential: 'sk-provider', skipCheck: true },
  })
  await admin.providers.add({
    ...{ name: 'gemini', kind: 'gemini', baseUrl: provider.baseUrl },
    ...{ credential: 'AIza-provider', skipCheck: true },
  })
  await admin.projects.add({ name: 'other' })
  await admin.environments.add({ name: 'production', project: 'other' })
  for (const project of ['default', 'other']) {
    await gateway.addRoute('words', ['openai'], { project })
    await gateway.addRoute('live', ['gemini'], { project })
  }
  keys.own = (await gateway.createKey('own')).key
  keys.foreign = (await gateway.createKey('foreign', { project: 'other', environment: 'production' })).key
})
afterAll(async () => {
  await gateway.stop()
  await provider.stop()
})

const open = (key: string, path = '/v1/responses') =>
  dial(`${gateway.baseUrl}${path}`, { headers: { authorization: `Bearer ${key}` } })
const create = (more: object = {}) => ({ type: 'response.create', model: 'words', input: 'hi', ...more })

/** A gateway that is too busy to look up whose an object is says so, and is asked again. */
async function ask<Answer>(once: () => Promise<Answer>): Promise<Answer> {
  for (let left = 20; left > 0; left--) {
    const answer = await once()
    if (!JSON.stringify(answer).includes('object_index_unavailable')) return answer
  }
  throw new Error('the index of objects is never there')
}

describe('what was made on a WebSocket', () => {
  it('belongs to who made it', async () => {
    const first = await open(keys.own)
    first.send(create())
    const { end: far } = await provider.accepted()
    await far.next()
    far.send({ type: 'response.created', response: { id: 'resp_mine', object: 'response' } })
    await first.nextJson()
    first.socket.close(1000)
    await far.closed

    const stranger = await ask(async () => {
      const client = await open(keys.foreign)
      client.send(create({ previous_response_id: 'resp_mine' }))
      return { frame: await client.nextJson(), closed: await client.closed, id: client.requestId }
    })
    expect(stranger.frame).toMatchObject({ type: 'error', error: { code: 'object_not_found' } })
    expect(stranger.closed).toMatchObject({ code: 1008 })
    expect(await gateway.record(stranger.id)).toMatchObject({
      error: { code: 'object_not_found' },
      attempts: [],
    })

    // On a connection that stands already too.
    const second = await open(keys.foreign)
    second.send(create())
    const { end: other } = await provider.accepted()
    await other.next()
    const told = await ask(() => {
      second.send(create({ previous_response_id: 'resp_mine' }))
      return second.nextJson()
    })
    expect(told).toMatchObject({ type: 'error', error: { code: 'object_not_found' } })
    second.send(create({ instructions: 'still open' }))
    expect((await other.next()).text).toContain('still open')
    second.socket.close(1000)

    const arrived = provider.accepted().then(async ({ end }) => (await end.next()).text)
    const seen = await ask(async () => {
      const client = await open(keys.own)
      client.send(create({ previous_response_id: 'resp_mine' }))
      const first = await Promise.race([arrived, client.next().then(({ text }) => text)])
      client.socket.close(1000)
      return first
    })
    expect(JSON.parse(seen)).toMatchObject({ type: 'response.create', previous_response_id: 'resp_mine' })
  })

  it('a call that nobody made here is nobody’s to listen in on', async () => {
    for (const path of ['/v1/realtime?call_id=rtc_foreign', '/v1/live/sessions/sess_foreign/attach']) {
      const refused = await ask(() => open(keys.own, path).catch((error: unknown) => error))
      expect(refused).toBeInstanceOf(Refused)
      expect(refused).toMatchObject({ status: 404, headers: { 'x-sp-error': 'object_not_found' } })
    }
  })
})

describe('a session of the Live API', () => {
  const path = '/v1/gemini/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent'
  const setup = (more: object = {}) => ({ setup: { model: 'models/live', ...more } })

  it('is taken up again by whom it was made for, and nobody else', async () => {
    const first = await open(keys.own, path)
    first.send(setup({ sessionResumption: {} }))
    const { end: far } = await provider.accepted()
    await far.next()
    far.send({ sessionResumptionUpdate: { newHandle: 'handle-of-mine', resumable: true } })
    expect(await first.nextJson()).toMatchObject({ sessionResumptionUpdate: { newHandle: 'handle-of-mine' } })
    first.socket.close(1000)
    await far.closed

    for (const [key, resumption] of [
      [keys.foreign, { sessionResumption: { handle: 'handle-of-mine' } }],
      [keys.foreign, { session_resumption: { transparent: true, handle: 'handle-of-mine' } }],
      [keys.own, { sessionResumption: { handle: 'handle-of-nobody' } }],
      [keys.own, { sessionResumption: { handle: 'x'.repeat(3000) } }],
    ] as const) {
      const stranger = await open(key, path)
      stranger.send(setup(resumption))
      expect(await stranger.closed).toMatchObject({ code: 1008 })
      const record = await gateway.record(stranger.requestId)
      expect(record.attempts).toEqual([])
      expect(JSON.stringify(record)).not.toContain('handle-of-mine')
    }

    const second = await open(keys.own, path)
    second.send(setup({ sessionResumption: { handle: 'handle-of-mine' } }))
    const { end: again } = await provider.accepted()
    expect(JSON.parse((await again.next()).text)).toMatchObject({
      setup: { sessionResumption: { handle: 'handle-of-mine' } },
    })
    second.socket.close(1000)
  })
})

describe('a connection that stands', () => {
  it('ends with its key, and with the gateway', async () => {
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
  it('tells the connections that it has, and they are recorded', async () => {
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
