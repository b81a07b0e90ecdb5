import { describe, expect, it } from 'vitest'
import { type Fault, fault } from '../../../src/core/errors.ts'
import { type FormatName, formatNames } from '../../../src/core/format.ts'
import { SseFramer } from '../../../src/core/sse.ts'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import type { StagePass } from '../../../src/gateway/answer/stage.ts'
import { TranslationStage } from '../../../src/gateway/translation/translation-stage.ts'
import { findUpstreamShape, inspectUpstream } from '../../../src/gateway/translation/upstream-call-shape.ts'
import type { Leg } from '../../../src/gateway/upstream/leg.ts'
import { emptyInspection } from '../../../src/lanes/request-body.ts'
import type { Reply } from '../../support/matrix/scene.ts'
import { providers } from '../../support/matrix/upstreams.ts'
import { checkStream } from '../../support/translate/grammar.ts'
import { codecOf, isFault, writeContext } from '../../support/translate/stage.ts'

/** Of the bytes of each stream, every so manieth is a place to cut it; `SPGW_TRANSLATE_RUNS` is set: each. */
const step = process.env.SPGW_TRANSLATE_RUNS === undefined ? 31 : 1

const call = (name: string, city: string) => ({ kind: 'call' as const, name, input: { city, n: 1 } })
const reply: Reply = {
  pieces: [
    { kind: 'thought', text: 'Hm, 世界 "quoted".', seal: '' },
    { kind: 'text', text: 'Ich sehe nach: 🌍\\n.' },
    call('weather', 'Zürich'),
    call('weather', 'Rome'),
    call('time', '東京'),
  ],
  finish: 'calls',
}
const models: Readonly<Record<FormatName, string>> = {
  chat: 'qwen3-max',
  responses: 'gpt-5.2',
  messages: 'claude-opus-4-8',
  generate: 'gemini-3-pro',
}
const usage = { input: 190, output: 70, cacheRead: 50, cacheWrite: 0, reasoning: 30 }

function streamOf(provider: FormatName): Buffer {
  const body = { model: models[provider], stream: true, stream_options: { include_usage: true } }
  return Buffer.from(providers[provider].events(reply, body, usage).join(''))
}

interface Flow {
  written: string
  /** By then the gate had opened: what came before was no answer, and another provider would be asked. */
  begun: boolean
  error: Fault | null
}

/** A provider's bytes on their way to a client, as the gateway passes them: cut into events, read, translated, ended. */
function flow(provider: FormatName, client: FormatName, chunks: readonly Buffer[]): Flow {
  const { lane, match } = findUpstreamShape(provider, 'streamed')
  const inspection = inspectUpstream(provider, models[provider], { ...emptyInspection('m', ''), streamed: true })
  const reader = match.endpoint.reader(inspection, { renameTo: null, askForUsage: false })
  const body = { bytes: Buffer.alloc(0), reserved: 0 }
  const gateway = { budget: { reserve: () => true } }
  const leg = {
    call: { id: 'req_1', inspection: { framing: 'sse' }, body, gateway },
    candidate: { upstreamModel: models[provider] },
    provider: { kind: { scrub: (bytes: Buffer) => bytes } },
    credential: null,
  } as unknown as Leg
  const tokens = () => ({ tokens: reader.usage() ?? none, detail: null })
  const [own, other] = [codecOf(client), codecOf(provider)]
  const context = writeContext({ usage: tokens })
  const translation = {
    client: own,
    upstream: other,
    lose: () => {},
    openRecorder: () => null,
    hasCall: () => false,
    openBlocks: () => null,
    goOn: async () => null,
    writeContext: () => context,
  }
  const stage = new TranslationStage(translation, leg, [])
  const end: Flow = { written: '', begun: false, error: null }
  let over = false
  const take = (bytes: StagePass) => {
    if (bytes instanceof Promise) throw new Error('a stage takes long, and none is behind the translation')
    const refused = bytes !== null && isFault(bytes) ? bytes : null
    if (refused !== null) {
      end.error = refused
      over = true
    }
    end.written += String(refused === null ? (bytes ?? '') : stage.broken(refused))
  }
  const pass = (event: StreamEvent) => {
    if (over) return
    const reading = reader.event(event)
    end.begun ||= reading.content
    take(stage.event(event, event.bytes, reading))
    if (!over && (reading.terminal || reading.error !== null) && lane.endMark) {
      take(stage.end())
      over = true
    }
  }
  const framer = new SseFramer()
  for (const chunk of chunks) for (const event of framer.push(chunk)) pass(event)
  const rest = framer.rest()
  if (rest !== null) pass(rest)
  if (over) return end
  const missing = reader.end()
  take(missing === null ? stage.end() : fault('provider_bad_response', missing))
  return end
}

const none = { input: 0, output: 0, cache_read: 0, cache_write: 0, reasoning: 0, source: 'reported' as const }
const pairs = formatNames.flatMap((provider) => formatNames.map((client) => ({ provider, client })))

describe.each(pairs)('a stream of $provider for a client of $client', ({ provider, client }) => {
  const bytes = streamOf(provider)
  const whole = flow(provider, client, [bytes])

  it('is valid, and has what was said', () => {
    expect(whole.error).toBeNull()
    expect(checkStream(client, whole.written)).toEqual([])
    for (const name of ['weather', 'time']) expect(whole.written).toContain(`"${name}"`)
  })

  it('is the same however it is cut into chunks', () => {
    for (let at = 1; at < bytes.length; at += step)
      expect(flow(provider, client, [bytes.subarray(0, at), bytes.subarray(at)]), `cut at ${at}`).toEqual(whole)
    expect(
      flow(
        provider,
        client,
        [...bytes].map((byte) => Buffer.from([byte])),
      ),
    ).toEqual(whole)
  })

  it('is valid where the provider breaks off at any byte, and never looks like a whole one', () => {
    for (let at = 1; at < bytes.length; at += step) {
      const { written, begun, error } = flow(provider, client, [bytes.subarray(0, at)])
      if (!begun) continue
      expect(checkStream(client, written), `cut at ${at}`).toEqual([])
      expect(error !== null || written === whole.written || isEnd(provider, bytes, at), `cut at ${at}`).toBe(true)
    }
  })
})

/** The provider has said how it ends: what is missing closes the stream, or counts what was used. */
function isEnd(provider: FormatName, bytes: Buffer, at: number): boolean {
  const [came, left] = [bytes.subarray(0, at).toString(), bytes.subarray(at).toString()]
  if (provider === 'chat') return came.includes('"finish_reason":"tool_calls"}]}')
  return provider === 'generate' ? came.includes('"finishReason"') && !left.includes('}\r') : !left.includes('event:')
}
