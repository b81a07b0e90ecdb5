import { SseFramer } from '../../../src/core/bytes/sse.ts'
import type { StreamEvent } from '../../../src/core/bytes/stream-event.ts'
import { type Fault, fault } from '../../../src/core/errors.ts'
import type { FormatName } from '../../../src/core/format.ts'
import type { StagePass } from '../../../src/gateway/answer/stage.ts'
import { TranslationStage } from '../../../src/gateway/translation/translation-stage.ts'
import { findUpstreamShape, inspectUpstream } from '../../../src/gateway/translation/upstream-call-shape.ts'
import type { Leg } from '../../../src/gateway/upstream/leg.ts'
import { emptyInspection } from '../../../src/lanes/request-body.ts'
import type { Reply } from '../matrix/scene.ts'
import { providers } from '../matrix/upstreams.ts'
import { codecOf, isFault, writeContext } from './stage.ts'

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

/** A stream with three calls, as a provider of the format writes it. */
export function streamOf(provider: FormatName): Buffer {
  const body = { model: models[provider], stream: true, stream_options: { include_usage: true } }
  return Buffer.from(providers[provider].events(reply, body, usage).join(''))
}

export interface Flow {
  written: string
  /** By then the gate had opened: what came before was no answer, and another provider would be asked. */
  begun: boolean
  error: Fault | null
  /** What of the answer does not reach the client. */
  lost: string[]
}

/** A provider's bytes on their way to a client, as the gateway passes them: cut into events, read, translated, ended. */
export function flow(provider: FormatName, client: FormatName, chunks: readonly Buffer[]): Flow {
  const { lane, match } = findUpstreamShape(provider, 'streamed')
  const inspection = inspectUpstream(provider, models[provider], { ...emptyInspection('m', ''), streamed: true })
  const reader = match.endpoint.reader(inspection, { renameTo: null, askForUsage: false })
  const body = { bytes: Buffer.alloc(0), reserved: 0 }
  const gateway = { memoryBudget: { reserve: () => true } }
  const leg = {
    call: { id: 'req_1', inspection: { framing: 'sse' }, body, gateway },
    candidate: { upstreamModel: models[provider] },
    provider: { kind: { scrub: (bytes: Buffer) => bytes } },
    credential: null,
  } as unknown as Leg
  const tokens = () => ({ tokens: reader.usage() ?? none, detail: null })
  const [own, other] = [codecOf(client), codecOf(provider)]
  const context = writeContext({ usage: tokens })
  const end: Flow = { written: '', begun: false, error: null, lost: [] }
  const translation = {
    client: own,
    upstream: other,
    lose: (name: string) => end.lost.push(name),
    openRecorder: () => null,
    hasCall: () => false,
    openBlocks: () => null,
    goOn: async () => null,
    writeContext: () => context,
  }
  const stage = new TranslationStage(translation, leg, [])
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
