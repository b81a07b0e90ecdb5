import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillPrice } from '../../src/core/cost/model-price.ts'
import type { DataPlane } from '../support/data-plane.ts'
import { live, openSocketStage, type SocketStage } from '../support/socket-stage.ts'
import { dial, type End, type SocketProvider } from '../support/sockets.ts'

let stage: SocketStage
let provider: SocketProvider
let plane: DataPlane

beforeAll(async () => {
  stage = await openSocketStage()
  provider = stage.provider
  plane = stage.plane
})
afterAll(() => stage.stop())

const bearer = () => stage.bearer()
const realtime = (query?: string) => stage.realtime(query)
const connect: SocketStage['connect'] = (url, options) => stage.connect(url, options)
const refused: SocketStage['refused'] = (url, options) => stage.refused(url, options)

function bye(end: End, code: number, reason = ''): void {
  end.socket.close(code, reason)
}

describe('a WebSocket through the gateway', () => {
  it.each([
    ['realtime', () => realtime('?model=voice')],
    ['live', () => plane.baseUrl + live],
  ])('takes the gateway key up nowhere: %s', async (_name, url) => {
    const encoded = `%73%70_live_${plane.key.slice(8)}`
    const query = `note=${plane.key}&x=${encoded}&y=%25${encoded.slice(1)}&${plane.key}=1`
    const client = await dial(`${url()}${url().includes('?') ? '&' : '?'}${query}`, {
      headers: { ...bearer().headers, [plane.key]: '1', 'x-note': `key ${plane.key}` },
    })
    // Gemini's provider is called when the setup has come.
    if (url().endsWith(live)) client.socket.send('{"setup":{"model":"models/talk"}}')
    const { request } = await provider.accepted()
    const carried = `${request.url} ${decodeURIComponent(decodeURIComponent(request.url!))} ${request.rawHeaders.join(' ')}`
    expect(carried.toLowerCase()).not.toContain(plane.key.toLowerCase())
    bye(client, 1000)
    await client.closed
  })

  it('stands when the provider stands, under the provider’s name for the model and with its credential', async () => {
    const { client, provider: far, request } = await connect(realtime('?model=voice&x=1'))
    expect(request.url).toBe('/v1/realtime?model=gpt-realtime&x=1')
    expect(request.headers.authorization).toBe('Bearer sk-provider-credential')
    expect(JSON.stringify(request.headers)).not.toContain(plane.key)
    expect(client.requestId).toMatch(/^req_/)
    expect(client.headers).toMatchObject({ 'x-request-id': 'req_provider' })
    expect(client.headers['openai-organization']).toBeUndefined()
    bye(client, 1000, 'OK')
    expect(await far.closed).toEqual({ code: 1000, reason: 'OK' })
    expect(await client.closed).toEqual({ code: 1000, reason: 'OK' })
    expect(await plane.record(client.requestId)).toMatchObject({
      ...{ operation: 'realtime', status: 101, streamed: true, error: null, model: 'voice', route: 'voice' },
      ...{ provider: 'openai', upstream_model: 'gpt-realtime', lane: 'openai' },
      attempts: [{ status: 101, outcome: 'answered' }],
    })
  })

  it('passes frames both ways as they came', async () => {
    const { client, provider: far } = await connect()
    far.socket.send('héllo')
    far.socket.send(Buffer.from([1, 2, 3]), { binary: true })
    far.socket.send('first ', { fin: false })
    far.socket.send('second', { fin: true })
    expect(await client.next()).toEqual({ text: 'héllo', binary: false })
    expect(await client.next()).toEqual({ text: '\x01\x02\x03', binary: true })
    expect(await client.next()).toEqual({ text: 'first second', binary: false })
    client.socket.send('{"type":"input_audio_buffer.append","audio":"AAAA"}')
    client.socket.send(Buffer.from('{ "type":"input_audio_buffer.commit" }'), { binary: true })
    expect((await far.next()).text).toBe('{"type":"input_audio_buffer.append","audio":"AAAA"}')
    expect(await far.next()).toEqual({ text: '{ "type":"input_audio_buffer.commit" }', binary: true })
    client.socket.ping('are you there')
    expect(String((await once(far.socket, 'ping'))[0])).toBe('are you there')
    far.socket.pong('yes')
    expect(String((await once(client.socket, 'pong'))[0])).toBe('yes')
    bye(far, 4001, 'session over')
    expect(await client.closed).toEqual({ code: 4001, reason: 'session over' })
    expect(await plane.record(client.requestId)).toMatchObject({
      status: 101,
      error: { code: 'provider_error', origin: 'provider' },
      request_bytes: 89,
    })
  })

  it('echoes one subprotocol, and finds the key wherever a client may put it', async () => {
    const ways: [string, Parameters<typeof dial>[1]][] = [
      [realtime(), { protocols: ['realtime', `openai-insecure-api-key.${plane.key}`, 'openai-beta.realtime-v1'] }],
      [realtime(`?model=voice&key=${plane.key}`), {}],
      [realtime(), { headers: { 'api-key': plane.key } }],
    ]
    for (const [url, options] of ways) {
      const { client, provider: far, request } = await connect(url, options)
      expect(client.socket.protocol).toBe(options?.protocols === undefined ? '' : 'realtime')
      expect(request.headers['sec-websocket-protocol']).toBeUndefined()
      expect(request.headers['openai-beta']).toBe(options?.protocols === undefined ? undefined : 'realtime=v1')
      expect(JSON.stringify([request.url, request.rawHeaders])).not.toContain(plane.key)
      bye(client, 1000)
      await far.closed
      expect(JSON.stringify(await plane.record(client.requestId))).not.toContain(plane.key)
    }
  })

  it('sums the usage of all answers into one record, which stands before the connection ends', async () => {
    const { client, provider: far } = await connect()
    const usage = {
      ...{ input_tokens: 100, output_tokens: 20, total_tokens: 120 },
      input_token_details: { cached_tokens: 40, audio_tokens: 60, text_tokens: 40 },
      output_token_details: { audio_tokens: 15, text_tokens: 5 },
    }
    far.send({ type: 'response.created', response: { id: 'resp_1' } })
    for (const id of ['resp_1', 'resp_2']) far.send({ type: 'response.done', response: { id, usage } })
    for (let time = 0; time < 3; time++) await client.next()
    bye(client, 1000)
    await client.closed
    const record = plane.records().find(({ id }) => id === client.requestId)
    expect(record?.tokens).toEqual({
      ...{ input: 200, output: 40, cache_read: 80, cache_write: 0, reasoning: 0, source: 'reported' },
    })
  })

  it('prices each turn by itself, with audio and cached audio apart (litellm PR 38419)', async () => {
    const long_context = { over: 1000, input: 100, output: 100 }
    const rates = { input: 4, output: 16, audio_input: 32, audio_output: 64, cache_read: 0.4, long_context }
    const price = fillPrice({ model: 'gpt-realtime', source: 'set', version: 'v', ...rates })
    plane.tell({ type: 'prices', prices: { revision: 1, prices: [price] } })
    const { client, provider: far } = await connect()
    const usage = {
      ...{ input_tokens: 800, output_tokens: 20, total_tokens: 820 },
      input_token_details: { cached_tokens: 100, audio_tokens: 300, cached_tokens_details: { audio_tokens: 50 } },
      output_token_details: { audio_tokens: 15 },
    }
    for (const id of ['resp_1', 'resp_2']) far.send({ type: 'response.done', response: { id, usage } })
    for (let time = 0; time < 2; time++) await client.next()
    bye(client, 1000)
    await client.closed
    const record = plane.records().find(({ id }) => id === client.requestId)
    // 450 text, 100 cached, 250 audio; 5 text and 15 audio out; in millionths. Together they would be long context.
    const turn = 450 * 4 + 100 * 0.4 + 250 * 32 + 5 * 16 + 15 * 64
    expect(record?.cost?.usd).toBeCloseTo((2 * turn) / 1e6, 9)
    expect(record?.tokens).toMatchObject({ input: 1600, output: 40 })
  })

  it('renames the model wherever a session names it, and leaves all else as it is', async () => {
    const { client, provider: far } = await connect()
    client.socket.send(
      '{ "type":"session.update", "session":{"model":"voice","audio":{"input":{"transcription":{"model":"other"}}}} }',
    )
    expect((await far.next()).text).toBe(
      '{ "type":"session.update", "session":{"model":"gpt-realtime","audio":{"input":{"transcription":{"model":"gpt-other"}}}} }',
    )
    client.send({ type: 'session.update', session: { model: 'nobody-has-this' } })
    expect(await client.nextJson()).toMatchObject({ type: 'error', error: { code: 'model_not_found' } })
    client.send({ type: 'session.update', session: { audio: { input: { transcription: { model: 'whisper-1' } } } } })
    expect((await far.next()).text).toContain('whisper-1')
    bye(client, 1000)
    await client.closed
    const record = await plane.record(client.requestId)
    expect(record.routing_signals.filter(({ rule }) => rule === 'patch').map(({ text }) => text)).toEqual([
      "The model's name was changed to gpt-realtime for openai.",
      "The model's name was changed to gpt-other for openai.",
    ])
  })
})

describe('a session for transcription', () => {
  it('goes to the default provider, and is named on the record when it names its model', async () => {
    const {
      client,
      provider: far,
      request,
    } = await connect(realtime('?intent=transcription'), {
      headers: { ...bearer().headers, 'x-sp-provider': 'openai' },
    })
    expect(request.url).toBe('/v1/realtime?intent=transcription')
    const transcription = { model: 'other' }
    client.send({ type: 'session.update', session: { type: 'transcription', audio: { input: { transcription } } } })
    expect((await far.next()).text).toContain('"model":"gpt-other"')
    bye(client, 1000)
    await far.closed
    expect(await plane.record(client.requestId)).toMatchObject({ model: 'other', upstream_model: 'gpt-other' })
  })
})

describe('a handshake that is refused', () => {
  it('has the lane’s error, with status and id', async () => {
    const wrong: [string, Parameters<typeof dial>[1], number, string][] = [
      [realtime(), {}, 401, 'missing_key'],
      [realtime(), { headers: { authorization: 'Bearer sk-proj-0123456789abcdefghij' } }, 401, 'provider_key_rejected'],
      [realtime('?model=nobody-has-this'), bearer(), 404, 'model_not_found'],
      [realtime(''), bearer(), 400, 'invalid_request'],
      [realtime('?model=voice&model=other'), bearer(), 400, 'invalid_request'],
      [`${plane.baseUrl}/v1/nothing`, bearer(), 404, 'unknown_path'],
      [`${plane.baseUrl}/v1/chat/completions`, bearer(), 404, 'unknown_path'],
      [`${plane.baseUrl}/v1/anthropic/v1/messages`, bearer(), 404, 'unknown_path'],
      [`${plane.baseUrl}${live}?key=sp_live_wrong`, {}, 401, 'invalid_key'],
    ]
    for (const [url, options, status, code] of wrong) {
      const answer = await refused(url, options)
      expect([url, answer.status, answer.headers['x-sp-error']]).toEqual([url, status, code])
      const id = answer.headers['x-sp-request-id']
      expect(JSON.parse(answer.body).error).toBeDefined()
      expect(await plane.record(String(id))).toMatchObject({ status, error: { code } })
    }
  })

  it('passes what the provider says to it, scrubbed', async () => {
    const body = JSON.stringify({
      error: { message: 'no such model in org-abcdefghijklmnopqrstuvwx', type: 'x', code: 'y' },
    })
    provider.refuse(() => ({ status: 404, headers: { 'content-type': 'application/json', 'set-cookie': 'a=b' }, body }))
    const answer = await refused(realtime())
    expect(answer.status).toBe(404)
    expect(answer.headers).toMatchObject({ 'x-sp-error': 'provider_error', 'content-type': 'application/json' })
    expect(answer.headers['set-cookie']).toBeUndefined()
    expect(answer.body).toContain('no such model')
    expect(answer.body).not.toContain('org-abcdefghijklmnopqrstuvwx')
    provider.refuse(() => 'cut')
    expect((await refused(realtime())).status).toBe(502)
    provider.refuse(null)
    const { client } = await connect()
    bye(client, 1000)
  })

  it('is refused where the provider has no WebSockets, or takes the handshake for a request', async () => {
    expect((await refused(realtime('?model=demo-model'))).status).toBe(404)
    const framed = await dial(`${plane.baseUrl}/v1/responses`, bearer())
    framed.send({ type: 'response.create', model: 'demo-model', input: 'hi' })
    expect(await framed.nextJson()).toMatchObject({ type: 'error', error: { code: 'not_translatable' } })
    expect(await framed.closed).toMatchObject({ code: 1008 })
    provider.refuse(() => ({ status: 200, headers: { 'content-type': 'application/json' }, body: '{"ok":true}' }))
    expect(await refused(realtime())).toMatchObject({ status: 502, headers: { 'x-sp-error': 'provider_bad_response' } })
    provider.refuse(null)
  })

  it('falls back to the next target while nothing stands', async () => {
    let calls = 0
    provider.refuse(() => (calls++ === 0 ? { status: 503, headers: {}, body: '{}' } : null))
    const { client, request } = await connect(realtime('?model=twice'))
    provider.refuse(null)
    expect(request.url).toBe('/v1/realtime?model=second')
    bye(client, 1000)
    expect(await plane.record(client.requestId)).toMatchObject({
      upstream_model: 'second',
      attempts: [{ status: 503 }, { status: 101 }],
    })
  })
})

describe('a connection whose first frame names the model', () => {
  it('of Gemini stands at once, and its provider when the setup has come; the key goes in the query', async () => {
    // As it comes of a base URL that ends in a slash.
    const client = await dial(`${plane.baseUrl}${live.replace('/ws/', '//ws/')}?key=${plane.key}`)
    client.socket.send(Buffer.from('{"setup":{"model":"models/talk","x":1}}'), { binary: true })
    client.send({ clientContent: { turns: [], turnComplete: true } })
    const { end: far, request } = await provider.accepted()
    expect(request.url).toBe(
      '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent?key=AIza-provider-credential',
    )
    expect(request.headers['x-goog-api-key']).toBeUndefined()
    expect(await far.next()).toEqual({ text: '{"setup":{"model":"models/gemini-live","x":1}}', binary: true })
    expect((await far.next()).text).toBe('{"clientContent":{"turns":[],"turnComplete":true}}')
    const usageMetadata = { promptTokenCount: 10, responseTokenCount: 5, thoughtsTokenCount: 2, totalTokenCount: 17 }
    far.send({ setupComplete: {} })
    far.send({ serverContent: { modelTurn: { parts: [{ text: 'hi' }] } } })
    const groundingMetadata = { webSearchQueries: ['a', 'b'] }
    far.send({ serverContent: { groundingMetadata } })
    const promptTokensDetails = [{ modality: 'VIDEO', tokenCount: 6 }]
    far.send({ usageMetadata: { ...usageMetadata, promptTokensDetails }, serverContent: { turnComplete: true } })
    for (let time = 0; time < 4; time++) await client.next()
    bye(client, 1000)
    await far.closed
    expect(await plane.record(client.requestId)).toMatchObject({
      ...{ lane: 'gemini', operation: 'live', status: 101, error: null, model: 'talk', upstream_model: 'gemini-live' },
      tokens: { input: 10, output: 7, reasoning: 2, source: 'reported' },
      usage_detail: { video_input: 6, searches: 2 },
    })
  })

  it('of Gemini counts what was sent for a turn that reports nothing, also where it was not answered', async () => {
    const parts = [{ text: 'x'.repeat(4000) }]
    for (const answered of [true, false]) {
      const client = await dial(`${plane.baseUrl}${live}?key=${plane.key}`)
      client.send({ setup: { model: 'models/talk' } })
      const { end: far } = await provider.accepted()
      await far.next()
      client.send({ clientContent: { turns: [{ role: 'user', parts }], turnComplete: true } })
      await far.next()
      if (answered) {
        far.send({ serverContent: { modelTurn: { parts: [{ text: 'y'.repeat(400) }] } } })
        far.send({ serverContent: { turnComplete: true } })
        for (let time = 0; time < 2; time++) await client.next()
      }
      bye(client, 1000)
      const { tokens } = await plane.record(client.requestId)
      expect(tokens).toMatchObject({ input: 1018, output: answered ? 100 : 0, source: 'estimated' })
    }
  })

  it('of Gemini ends with a code and a reason where it cannot stand', async () => {
    const ends: [object, number, RegExp, string][] = [
      [{ setup: { model: 'models/nobody-has-this' } }, 1008, /^model_not_found: /, 'model_not_found'],
      [{ setup: {} }, 1008, /^invalid_request: /, 'invalid_request'],
      [{ clientContent: {} }, 1008, /^invalid_request: /, 'invalid_request'],
      [{ setup: { model: 7 } }, 1008, /^invalid_request: /, 'invalid_request'],
    ]
    for (const [frame, code, reason, recorded] of ends) {
      const client = await dial(`${plane.baseUrl}${live}?key=${plane.key}`)
      client.send(frame)
      const closed = await client.closed
      expect(closed).toEqual({ code, reason: expect.stringMatching(reason) })
      expect(Buffer.byteLength(closed.reason)).toBeLessThanOrEqual(123)
      expect(await plane.record(client.requestId)).toMatchObject({ status: 101, error: { code: recorded } })
    }
  })

  const responses = () => dial(`${plane.baseUrl}/v1/responses`, bearer())
  const create = (more: object = {}) => ({ type: 'response.create', model: 'voice', input: 'hi', ...more })

  it('of Responses takes several responses, and knows those made on it', async () => {
    const client = await responses()
    client.send(create({ store: false }))
    const { end: far, request } = await provider.accepted()
    expect(request.url).toBe('/v1/responses')
    expect(JSON.parse((await far.next()).text)).toMatchObject({ model: 'gpt-realtime', input: 'hi' })
    const usage = { input_tokens: 3, output_tokens: 4, input_tokens_details: { cached_tokens: 1 } }
    far.send({ type: 'response.created', response: { id: 'resp_a', store: false } })
    far.send({ type: 'response.completed', response: { id: 'resp_a', store: false, output: [{ id: 'msg_1' }], usage } })
    await client.next()
    await client.next()
    client.send(create({ previous_response_id: 'resp_a' }))
    expect(JSON.parse((await far.next()).text)).toMatchObject({ previous_response_id: 'resp_a' })
    far.send({ type: 'response.created', response: { id: 'resp_b' } })
    far.send({ type: 'response.completed', response: { id: 'resp_b', usage } })
    expect(await client.nextJson()).toMatchObject({ type: 'response.created' })
    expect(await client.nextJson()).toMatchObject({ type: 'response.completed' })
    client.send(create({ model: 'talk' }))
    expect(await client.nextJson()).toMatchObject({ type: 'error', status: 404, error: { code: 'model_not_found' } })
    bye(client, 1000)
    await far.closed
    expect(await plane.record(client.requestId)).toMatchObject({
      ...{ operation: 'responses.socket', model: 'voice', tokens: { input: 6, output: 8, cache_read: 2 }, error: null },
    })
  })

  it('of Responses is told of what fails in an error frame, and ends where it leads nowhere', async () => {
    const client = await responses()
    client.send(create({ model: 'nobody-has-this' }))
    expect(await client.nextJson()).toMatchObject({ type: 'error', status: 404, error: { code: 'model_not_found' } })
    expect(await client.closed).toMatchObject({ code: 1008 })
    provider.refuse(() => ({ status: 500, headers: {}, body: '{}' }))
    const second = await responses()
    second.send(create())
    expect(await second.nextJson()).toMatchObject({ type: 'error', status: 502 })
    expect(await second.closed).toMatchObject({ code: 1011 })
    provider.refuse(null)
    expect(await plane.record(second.requestId)).toMatchObject({ status: 101, error: { code: 'provider_error' } })
  })
})
