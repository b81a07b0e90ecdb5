import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EndpointSocket, Lane } from '../../src/lanes/contract.ts'
import { gemini } from '../../src/lanes/gemini/lane.ts'
import { openai } from '../../src/lanes/openai/lane.ts'

const live = '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent'
const rows: readonly [Lane, string][] = [
  [openai, '/realtime'],
  [openai, '/responses'],
  [openai, '/live/sessions'],
  [gemini, live],
]

function open([lane, path]: [Lane, string]): EndpointSocket {
  const socket = lane.match('SOCKET', path)?.endpoint.socket ?? null
  if (socket === null) throw new Error(`no WebSocket at ${path}`)
  return socket
}

const types = ['response.create', 'session.update', 'session.start', 'response.done', 'response.completed', 'error']
const names = [
  'type',
  'session',
  'model',
  'audio',
  'response',
  'usage',
  'setup',
  'serverContent',
  'usageMetadata',
  'error',
]
const frame = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.string().map((text) => Buffer.from(text)),
  fc
    .dictionary(fc.constantFrom(...names), fc.oneof(fc.constantFrom(...types), fc.jsonValue({ maxDepth: 3 })))
    .map((value) => Buffer.from(JSON.stringify(value))),
)

describe.each(rows.map((row) => [`${row[0].name} ${row[1]}`, row] as const))('%s', (_name, row) => {
  const socket = open(row)

  it('bears any frame, from either side', () => {
    const reader = socket.reader(() => null)
    fc.assert(
      fc.property(frame, (bytes) => {
        const ask = socket.ask(bytes)
        if (ask !== null && !('code' in ask))
          for (const { name, spans } of [...(ask.model === null ? [] : [ask.model]), ...ask.additionalModels])
            for (const { start, end } of spans)
              expect(JSON.parse(bytes.toString('utf8', start, end)).endsWith(name)).toBe(true)
        reader.frame(bytes)
        const usage = reader.turn?.tokens ?? null
        if (usage !== null) expect(Number.isSafeInteger(usage.input + usage.output)).toBe(true)
        expect(Number.isSafeInteger(reader.written)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})

it.each([
  [openai, '/realtime/client_secrets'],
  [gemini, '/v1beta/auth_tokens'],
] as const)('finds no credential in an answer that is not understood', (lane, path) => {
  const { readClientToken } = lane.match('POST', path)!.endpoint
  fc.assert(
    fc.property(frame, (bytes) => {
      const minted = readClientToken!(bytes)
      if (minted !== null) expect(minted.secrets).not.toContain('')
    }),
  )
})

it('knows the model of a session and of its parts apart', () => {
  const socket = open([openai, '/live/sessions'])
  const session = { model: 'a', delegation: { type: 'responses', responses: { model: 'b' } }, tools: [{ model: 'c' }] }
  expect(socket.ask(Buffer.from(JSON.stringify({ type: 'session.start', session })))).toMatchObject({
    model: { name: 'a' },
    additionalModels: [{ name: 'b' }],
  })
  const two = '{"type":"session.start","session":{"model":"a","model":"b"}}'
  expect(socket.ask(Buffer.from(two))).toMatchObject({ code: 'invalid_request' })
})

it('looks for models of a session no deeper than anybody reads them', () => {
  const socket = open([openai, '/live/sessions'])
  const nested = (depth: number) => `${'{"audio":'.repeat(depth)}{"model":"b"}${'}'.repeat(depth)}`
  const ask = (depth: number) =>
    socket.ask(Buffer.from(`{"type":"session.start","session":{"model":"a","input":${nested(depth)}}}`))
  expect(ask(3)).toMatchObject({ model: { name: 'a' }, additionalModels: [{ name: 'b' }] })
  expect(ask(1000)).toMatchObject({ model: { name: 'a' }, additionalModels: [] })
})

it('reads what Live reports, of delegated answers too, and no end twice', () => {
  const socket = open([openai, '/live/sessions'])
  const reader = socket.reader(() => null)
  const tell = (value: object) => reader.frame(Buffer.from(JSON.stringify(value)))
  expect(tell({ type: 'session.started', session: { id: 'sess_1' } }).created).toEqual([
    { type: 'live_session', id: 'sess_1' },
  ])
  const usage = { input_tokens: 5, output_tokens: 7 }
  const delegated = (event: object) => tell({ type: 'response.event', event })
  delegated({ type: 'response.output_text.delta', delta: 'eight by' })
  expect(reader.written).toBe(2)
  for (const id of ['r', 's']) {
    delegated({ type: 'response.completed', response: { id, usage } })
    expect(reader).toMatchObject({ step: 'ends', turn: { tokens: { input: 5, output: 7 } } })
  }
  delegated({ type: 'response.completed', response: { id: 's', usage } })
  expect(reader).toMatchObject({ step: null, turn: null })
})

it('reads when a turn of Gemini begins and ends, and what its frames come to', () => {
  const reader = open([gemini, live]).reader(() => null)
  const says = (value: object) => {
    reader.frame(Buffer.from(JSON.stringify(value)))
    return { step: reader.step, written: reader.written, busy: reader.busy() }
  }
  const text = (words: string) => ({ serverContent: { modelTurn: { parts: [{ text: words }] } } })
  expect(says(text('x'.repeat(400)))).toEqual({ step: 'begins', written: 100, busy: true })
  expect(says(text('four'))).toEqual({ step: null, written: 1, busy: true })
  const sound = { inlineData: { mimeType: 'audio/pcm;rate=24000', data: 'A'.repeat(25_600 - 84) } }
  expect(says({ serverContent: { modelTurn: { parts: [sound] } } })).toMatchObject({ written: 10 })
  expect(says({ serverContent: { outputTranscription: { text: 'fourfour' } } })).toMatchObject({ written: 2 })
  expect(says({ toolCall: { functionCalls: [{ name: 'a'.repeat(400), args: {} }] } }).written).toBeGreaterThan(100)
  expect(says({ serverContent: { interrupted: true } })).toEqual({ step: 'ends', written: 0, busy: false })
  expect(says({ serverContent: { turnComplete: true } })).toEqual({ step: null, written: 0, busy: false })
  const whole = { serverContent: { ...text('a whole turn').serverContent, turnComplete: true } }
  expect(says(whole)).toEqual({ step: 'ends', written: 3, busy: false })
})

it.each([
  ['gemini-3.8-live', 2],
  ['gemini-live-2.5-flash-native-audio', 1],
  ['gemini-2.5-flash-native-audio-latest', 1],
  [null, 2],
])('counts what a turn of %s searches as answers to other calls do', (model, searches) => {
  const reader = open([gemini, live]).reader(() => model)
  const says = (value: object) => reader.frame(Buffer.from(JSON.stringify(value)))
  says({ serverContent: { groundingMetadata: { webSearchQueries: ['a', 'b'] } } })
  const usageMetadata = { promptTokenCount: 3, totalTokenCount: 3, trafficType: 'ON_DEMAND_FLEX' }
  says({ usageMetadata, serverContent: { turnComplete: true } })
  expect(reader.turn?.detail).toMatchObject({ searches })
  says({ usageMetadata })
  expect(reader.turn?.detail?.searches).toBeNull()
})

it('estimates what the client of Gemini sends for the next turn, in both spellings', () => {
  const reader = open([gemini, live]).reader(() => null)
  const count = (frame: object) => reader.inputOf?.(Buffer.from(JSON.stringify(frame)))
  const text = { turns: [{ parts: [{ text: 'x'.repeat(4000) }] }], turnComplete: true }
  expect(count({ clientContent: text })).toBeGreaterThan(1000)
  expect(count({ client_content: text })).toBeLessThan(1030)
  // A second of sound.
  const audio = { data: 'A'.repeat(42_668), mimeType: 'audio/pcm;rate=16000' }
  expect(count({ realtimeInput: { audio } })).toBe(26)
  expect(count({ realtime_input: { media_chunks: [audio] } })).toBe(26)
  expect(count({ realtimeInput: { video: { data: 'A'.repeat(90_000), mimeType: 'image/jpeg' } } })).toBe(258)
  expect(count({ realtimeInput: { text: 'x'.repeat(398) } })).toBe(100)
  expect(count({ toolResponse: { functionResponses: [] } })).toBe(6)
  for (const frame of [{ realtimeInput: { activityEnd: {} } }, { setup: {} }, []]) expect(count(frame)).toBe(0)
})

it('looks no further into frames of sound, and into any that may name an object', () => {
  const socket = open([openai, '/realtime'])
  const ask = (value: object) => socket.ask(Buffer.from(JSON.stringify(value)))
  expect(ask({ type: 'input_audio_buffer.append', audio: 'AAAA' })).toBeNull()
  expect(ask({ type: 'x', deep: [{ voice: { id: 'voice_1' } }] })).toMatchObject({ opens: false, model: null })
  expect(ask({ type: 'x', session: { model: 'a' } })).toMatchObject({ opens: false, model: { name: 'a' } })
  const talk = open([gemini, live])
  const say = (value: object) => talk.ask(Buffer.from(JSON.stringify(value)))
  expect(say({ realtimeInput: { audio: { data: 'AAAA', mimeType: 'audio/pcm' } } })).toBeNull()
  expect(say({ clientContent: { turns: [] }, setup: null })).toBeNull()
  expect(say({ clientContent: { turns: [{ fileUri: 'x' }] } })).toMatchObject({ opens: false, model: null })
})

it('looks for models only as deep as anybody reads them, however deep setups stand in setups', () => {
  const socket = open([gemini, live])
  const ask = (depth: number) =>
    socket.ask(Buffer.from(`${'{"setup":'.repeat(depth)}{"model":"models/m"}${'}'.repeat(depth)}`))
  expect(ask(1)).toMatchObject({ opens: true, model: { name: 'm' } })
  expect(ask(2)).toMatchObject({ opens: true, model: { name: 'm' } })
  expect(ask(9000)).toMatchObject({ opens: true, model: null })
})
