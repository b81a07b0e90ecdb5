import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LLMock } from '@copilotkit/aimock'
import { GoogleGenAI, Modality } from '@google/genai'
import { GoogleGenAI as GoogleGenAI1 } from 'genai-1'
import OpenAI from 'openai'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import { LiveWS } from 'openai/resources/live/ws'
import { ResponsesWS } from 'openai/resources/responses/ws'
import OpenAI6 from 'openai-6'
import { OpenAIRealtimeWS as OpenAIRealtimeWS6 } from 'openai-6/realtime/ws'
import { ResponsesWS as ResponsesWS6 } from 'openai-6/resources/responses/ws'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { RequestRecord } from '../../src/core/record.ts'
import { hasOpenssl, makeCertificate } from '../support/certificate.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { makeRoute, makeTarget } from '../support/snapshot.ts'

// An upstream written by others, driven by the WebSocket clients of the vendors' own SDKs.
let upstream: LLMock
let plain: DataPlane
let secure: DataPlane
let directory: string

const said = 'Hello from somebody else. Grüße 🌍'

beforeAll(async () => {
  upstream = new LLMock({ port: 0 })
  upstream.onMessage('hello', { content: said })
  upstream.onMessage('again', { content: 'And again.' })
  upstream.loadFixtureFile(
    join(import.meta.dirname, '../../node_modules/@copilotkit/aimock/fixtures/openai-live-client.json'),
  )
  await upstream.start()
  const providers = [
    { kind: 'openai', baseUrl: `${upstream.url}/v1` },
    { kind: 'gemini', baseUrl: upstream.url },
  ]
  const routes = [
    makeRoute('gpt-voice', [makeTarget('openai:gpt-realtime-2')]),
    makeRoute('gpt-words', [makeTarget('openai:gpt-4o-mini')]),
    makeRoute('live', [makeTarget('openai:gpt-live-1')]),
    makeRoute('talk', [makeTarget('gemini:gemini-2.0-flash')]),
  ]
  plain = await startDataPlane({ providers, routes })
  directory = mkdtempSync(join(tmpdir(), 'sockets-'))
  const { key, pem } = makeCertificate(directory, 'gateway.example')
  const certificate = { cert: pem, key: readFileSync(key, 'utf8'), ticketKeys: randomBytes(48) }
  secure = await startDataPlane({ providers, routes, certificate })
})
afterAll(async () => {
  await plain.stop()
  await secure.stop()
  await upstream.stop()
  rmSync(directory, { recursive: true })
})

const item = (text: string) => ({
  type: 'message' as const,
  role: 'user' as const,
  content: [{ type: 'input_text' as const, text }],
})
/** The SDK dials TLS, whatever the base URL says. */
const options = { rejectUnauthorized: false }

/** The same methods in both versions; their events differ in names that are not used here. */
function older<Current>(socket: object): Current {
  return socket as Current
}

/** How many records each had before the test: those of earlier tests look like the one that is waited for. */
const earlier = new Map<DataPlane, number>()
beforeEach(() => {
  for (const plane of [plain, secure]) earlier.set(plane, plane.records().length)
})

/** The record of the test's one connection. */
async function settledIn(plane: DataPlane): Promise<RequestRecord | null> {
  await expect.poll(() => plane.records().length).toBe((earlier.get(plane) ?? 0) + 1)
  return plane.newest()
}

/** What one talk over Realtime comes to. */
async function talk(socket: OpenAIRealtimeWS, words: string): Promise<string> {
  let text = ''
  const done = new Promise<string>((resolve, reject) => {
    socket.on('error', reject)
    socket.on('response.output_text.delta', ({ delta }) => (text += delta))
    socket.on('response.done', () => resolve(text))
  })
  socket.socket.on('open', () => {
    socket.send({ type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } })
    socket.send({ type: 'conversation.item.create', item: item(words) })
    socket.send({ type: 'response.create' })
  })
  return done
}

describe.skipIf(!hasOpenssl)('Realtime, by the SDK (needs openssl)', () => {
  const settings = () => ({ apiKey: secure.key, baseURL: `${secure.baseUrl}/v1` })
  it.each([
    ['openai 7', () => new OpenAIRealtimeWS({ model: 'gpt-voice', options }, new OpenAI(settings()))],
    [
      'openai 6',
      () => older<OpenAIRealtimeWS>(new OpenAIRealtimeWS6({ model: 'gpt-voice', options }, new OpenAI6(settings()))),
    ],
  ])('%s', async (_name, open) => {
    const socket = open()
    expect(await talk(socket, 'hello')).toBe(said)
    const closed = new Promise((resolve) => socket.socket.once('close', resolve))
    socket.close()
    await closed
    expect(await settledIn(secure)).toMatchObject({
      ...{ operation: 'realtime', status: 101, error: null, model: 'gpt-voice', upstream_model: 'gpt-realtime-2' },
    })
  })
})

describe('Responses over WebSocket, by the SDK', () => {
  const settings = () => ({ apiKey: plain.key, baseURL: `${plain.baseUrl}/v1` })
  it.each([
    ['openai 7', () => new ResponsesWS(new OpenAI(settings()))],
    ['openai 6', () => older<ResponsesWS>(new ResponsesWS6(new OpenAI6(settings())))],
  ])('%s: two responses on one connection', async (_name, open) => {
    const socket = open()
    const texts: string[] = []
    for (const input of ['hello', 'again']) {
      let text = ''
      const done = new Promise<void>((resolve, reject) => {
        socket.on('error', reject)
        socket.on('response.output_text.delta', ({ delta }) => (text += delta))
        socket.on('response.completed', () => resolve())
      })
      socket.send({ type: 'response.create', model: 'gpt-words', input: [item(input)] })
      await done
      texts.push(text)
    }
    expect(texts).toEqual([said, 'And again.'])
    socket.close()
    expect(await settledIn(plain)).toMatchObject({
      operation: 'responses.socket',
      status: 101,
      error: null,
      upstream_model: 'gpt-4o-mini',
    })
  })
})

describe('Live sessions, by the SDK', () => {
  it('openai 7: a session as the mock’s own example has it', async () => {
    const socket = new LiveWS(new OpenAI({ apiKey: plain.key, baseURL: `${plain.baseUrl}/v1` }))
    const types: string[] = []
    const closed = new Promise<void>((resolve, reject) => {
      socket.on('error', reject)
      socket.on('event', ({ type }) => types.push(type))
      socket.on('session.closed', () => resolve())
      socket.on('session.started', () => socket.send({ type: 'session.input_audio.append', audio: 'AAABAP//AgD+/wAA' }))
      let delegation_id = ''
      socket.on('session.delegation.created', ({ delegation }) => {
        delegation_id = delegation.id
        const content = 'The fictional red and blue sensor checks are still pending.'
        socket.send({ type: 'session.thinking.append', event_id: 'two', delegation_id, content })
      })
      socket.on('session.thinking.appended', () =>
        socket.send({
          type: 'session.commentary.append',
          event_id: 'three',
          delegation_id,
          content: 'The fictional red sensor reads seven.',
        }),
      )
      socket.on('session.usage.updated', () => socket.send({ type: 'session.close', event_id: 'four' }))
    })
    const instructions =
      'Authored offline example: delegate fictional sensor checks. Audio is synthetic PCM, not speech.'
    const audio = { format: { type: 'audio/pcm', rate: 24000 }, output: { voice: 'marin' } } as const
    socket.send({
      type: 'session.start',
      event_id: 'one',
      session: { model: 'live', instructions, audio, delegation: { type: 'client' } },
    })
    await closed
    expect(types).toContain('session.output_audio.delta')
    socket.close()
    expect(await settledIn(plain)).toMatchObject({
      operation: 'live',
      lane: 'openai',
      status: 101,
      upstream_model: 'gpt-live-1',
      error: null,
    })
  })
})

describe('Gemini Live, by the SDK', () => {
  it.each([
    ['@google/genai 3', GoogleGenAI],
    ['@google/genai 1', GoogleGenAI1],
  ])('%s', async (_name, Client) => {
    const client = new Client({
      apiKey: plain.key,
      httpOptions: { baseUrl: `${plain.baseUrl}/v1/gemini`, apiVersion: 'v1beta' },
    })
    let text = ''
    const turn = Promise.withResolvers<void>()
    const session = await client.live.connect({
      model: 'talk',
      config: { responseModalities: [Modality.TEXT] },
      callbacks: {
        onmessage: ({ serverContent }) => {
          for (const part of serverContent?.modelTurn?.parts ?? []) text += part.text ?? ''
          if (serverContent?.turnComplete) turn.resolve()
        },
        onerror: ({ message }) => turn.reject(new Error(message)),
      },
    })
    session.sendClientContent({ turns: [{ role: 'user', parts: [{ text: 'hello' }] }], turnComplete: true })
    await turn.promise
    expect(text).toBe(said)
    session.close()
    expect(await settledIn(plain)).toMatchObject({
      operation: 'live',
      lane: 'gemini',
      status: 101,
      model: 'talk',
      error: null,
    })
  })
})
