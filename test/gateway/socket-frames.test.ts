import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
const connect: SocketStage['connect'] = (url, options) => stage.connect(url, options)

function bye(end: End, code: number, reason = ''): void {
  end.socket.close(code, reason)
}

const deep = `${'['.repeat(10_001)}${']'.repeat(10_001)}`
/** Each is a frame for some parser, and none for the scanner; `frame` is an object. */
const unreadable: [string, (frame: string) => string][] = [
  ['NaN', (frame) => `${frame.slice(0, -1)},"temperature":NaN}`],
  ['a byte order mark', (frame) => `\ufeff${frame}`],
  ['something behind it', (frame) => `${frame}x`],
  ['a comma at the end', (frame) => `${frame.slice(0, -1)},}`],
  ['an array', (frame) => `[${frame}]`],
  ['two objects', (frame) => `${frame}${frame}`],
  ['a number that is none', (frame) => `${frame.slice(0, -1)},"n":01}`],
  ['nesting without end', (frame) => `${frame.slice(0, -1)},"metadata":${deep}}`],
  ['an escape that is none', (frame) => `${frame.slice(0, -1)},"mo\\del":"secret"}`],
  ['no JSON', () => 'not json at all'],
  ['nothing', () => ''],
]
const twoTypes: [string, (frame: string) => string] = ['two types', (frame) => `${frame.slice(0, -1)},"type":"x"}`]

describe('a frame that names a model', () => {
  const update = (model: string) => ({
    type: 'session.update',
    session: { audio: { input: { transcription: { model } } } },
  })

  it('is checked against the policy that its key has by then', async () => {
    const { client, provider: far } = await connect()
    client.send(update('other'))
    expect((await far.next()).text).toContain('gpt-other')
    await plane.changeKey({ policyId: 'pol_voice' })
    client.send(update('other'))
    expect(await client.nextJson()).toMatchObject({ type: 'error', error: { code: 'policy_denied' } })
    await plane.changeKey({})
    bye(client, 1000)
    await far.closed
  })

  it('does not go up with a name that is too long for the record', async () => {
    const { client, provider: far } = await connect()
    client.send(update('x'.repeat(513)))
    expect(await client.nextJson()).toMatchObject({ type: 'error', error: { code: 'invalid_request' } })
    bye(client, 1000)
    await far.closed
  })
})

describe('a frame that cannot be read as the provider may read it', () => {
  const update = '{"type":"session.update","session":{"model":"nobody-has-this"}}'
  it.each([...unreadable, twoTypes])('does not go up on Realtime, in text or binary: %s', async (_form, write) => {
    const { client, provider: far } = await connect()
    for (const frame of [write(update), Buffer.from(write(update))]) {
      client.socket.send(frame)
      expect(await client.nextJson()).toMatchObject({ type: 'error', error: { code: 'invalid_request' } })
    }
    client.socket.send('{"type":"input_audio_buffer.clear"}')
    expect((await far.next()).text).toBe('{"type":"input_audio_buffer.clear"}')
    bye(client, 1000)
    await far.closed
  })

  const create = '{"type":"response.create","model":"voice","previous_response_id":"resp_foreign"}'
  it.each([...unreadable, twoTypes])('ends a connection of Responses that leads nowhere: %s', async (_form, write) => {
    const client = await dial(`${plane.baseUrl}/v1/responses`, bearer())
    client.socket.send(write(create))
    expect(await client.nextJson()).toMatchObject({ type: 'error', error: { code: 'invalid_request' } })
    expect(await client.closed).toMatchObject({ code: 1008 })
    expect(await plane.record(client.requestId)).toMatchObject({ error: { code: 'invalid_request' }, attempts: [] })
  })

  const content = '{"clientContent":{"turns":[]}}'
  const twoMessages: typeof unreadable = [
    ['two setups', (frame) => `${frame.slice(0, -1)},"setup":{},"setup":{}}`],
    ['two messages', (frame) => `${frame.slice(0, -1)},"client_content":{}}`],
  ]
  it.each([...unreadable, ...twoMessages])('ends a connection of Gemini, in binary too: %s', async (_form, write) => {
    for (const binary of [false, true]) {
      const client = await dial(`${plane.baseUrl}${live}?key=${plane.key}`)
      client.send({ setup: { model: 'models/talk' } })
      const { end: far } = await provider.accepted()
      await far.next()
      client.socket.send(Buffer.from(write(content)), { binary })
      expect(await client.closed).toMatchObject({ code: 1008, reason: expect.stringMatching(/^invalid_request: /) })
      await far.closed
    }
  })
})

describe('a frame that names what is not the caller’s', () => {
  const foreign = (frame: object, end: End) => {
    end.send(frame)
    return end.nextJson()
  }
  // Nobody answers here for the index of objects: whatever is put to the check is refused with this.
  const code = 'object_index_unavailable'
  const told = { type: 'error', error: { code } }
  const ended = { code: 1011, reason: expect.stringMatching(`^${code}: `) }

  it('does not go up on Realtime, whatever its type', async () => {
    const { client, provider: far } = await connect()
    const voice = { output: { voice: { id: 'voice_foreign' } } }
    const content = [{ type: 'input_image', file_id: 'file-foreign' }]
    const frames = [
      { type: 'session.update', session: { audio: voice } },
      { type: 'response.create', response: { audio: voice } },
      { type: 'response.create', response: { conversation: 'conv_foreign' } },
      { type: 'conversation.item.create', item: { type: 'message', role: 'user', content } },
      { response: { conversation: 'conv_foreign' } },
    ]
    for (const frame of frames) expect(await foreign(frame, client)).toMatchObject(told)
    // Items live within the session, and some names are nobody's.
    const input = [{ type: 'item_reference', id: 'item_1' }]
    client.send({ type: 'response.create', response: { conversation: 'none', input } })
    expect((await far.next()).text).toContain('item_1')
    client.send({ type: 'session.update', session: { audio: { output: { voice: 'alloy' } } } })
    expect((await far.next()).text).toContain('alloy')
    bye(client, 1000)
    await far.closed
  })

  it('does not go up on Responses, whatever its type', async () => {
    const client = await dial(`${plane.baseUrl}/v1/responses`, bearer())
    client.send({ type: 'response.create', model: 'voice', input: 'hi' })
    const { end: far } = await provider.accepted()
    await far.next()
    const input = [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-foreign' }] }]
    expect(await foreign({ type: 'response.steer', input }, client)).toMatchObject(told)
    expect(await foreign({ previous_response_id: 'resp_foreign' }, client)).toMatchObject(told)
    const other = { type: 'response.steer', model: 'nobody-has-this' }
    expect(await foreign(other, client)).toMatchObject({ type: 'error', error: { code: 'model_not_found' } })
    bye(client, 1000)
    await far.closed
  })

  const fileData = { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/foreign' }
  const setups: object[] = [
    { tools: [{ fileSearch: { fileSearchStoreNames: ['fileSearchStores/foreign'] } }] },
    { tools: [{ file_search: { file_search_store_names: ['fileSearchStores/foreign'] } }] },
    { cachedContent: 'cachedContents/foreign' },
    { systemInstruction: { parts: [{ fileData }] } },
  ]
  it.each(setups)('ends a connection of Gemini with its setup: %j', async (setup) => {
    const client = await dial(`${plane.baseUrl}${live}?key=${plane.key}`)
    client.socket.send(Buffer.from(JSON.stringify({ setup: { model: 'models/talk', ...setup } })), { binary: true })
    expect(await client.closed).toMatchObject(ended)
    expect(await plane.record(client.requestId)).toMatchObject({ attempts: [] })
  })

  const later: object[] = [
    { clientContent: { turns: [{ role: 'user', parts: [{ fileData }] }] } },
    { client_content: { turns: [{ role: 'user', parts: [{ file_data: { file_uri: fileData.fileUri } }] }] } },
    { toolResponse: { functionResponses: [{ id: 'a', name: 'f', response: {}, parts: [{ fileData }] }] } },
  ]
  it.each(later)('ends a connection of Gemini that stands: %j', async (frame) => {
    const client = await dial(`${plane.baseUrl}${live}?key=${plane.key}`)
    client.send({ setup: { model: 'models/talk' } })
    const { end: far } = await provider.accepted()
    await far.next()
    client.send(frame)
    expect(await client.closed).toMatchObject(ended)
    await far.closed
  })
})
