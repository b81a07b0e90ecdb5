import { describe, expect, it } from 'vitest'
import { SseFramer } from '../../../src/core/bytes/sse.ts'
import type { StreamEvent } from '../../../src/core/bytes/stream-event.ts'
import { fault } from '../../../src/core/errors.ts'
import type { AnswerStage } from '../../../src/gateway/answer/stage.ts'
import type { AnswerTranslation } from '../../../src/gateway/translation/answer-translation.ts'
import { ArrayElements } from '../../../src/gateway/translation/array-elements.ts'
import { TranslationStage } from '../../../src/gateway/translation/translation-stage.ts'
import type { Leg } from '../../../src/gateway/upstream/leg.ts'
import type { EventReading } from '../../../src/lanes/contract.ts'
import type { Codec } from '../../../src/translate/codec.ts'
import type { ReplyEvent } from '../../../src/translate/reply.ts'

/** A format whose events hold what the codec is to say of them, and whose writer shows what it was told. */
const codec = {
  format: 'chat',
  openReader: () => ({
    event: (_name: string, data: object) => Reflect.get(data, 'say') as ReplyEvent[],
    end: (): ReplyEvent[] => [{ kind: 'text', part: 0, text: 'end' }],
  }),
  openWriter: () => ({
    events: (events: readonly ReplyEvent[]) =>
      events.map((event) => (event.kind === 'text' ? `data: {"said":"${event.text}"}\n\n` : '')).join(''),
    end: () => 'data: [DONE]\n\n',
    error: ({ message }: { message: string }) => `data: {"error":"${message}"}\n\n`,
  }),
  readError: (status: number) => ({ status, kind: 'internal', message: 'theirs', param: null }),
} as unknown as Codec

function stageFor(inner: AnswerStage[] = [], framing: 'sse' | 'json-array' = 'sse') {
  const lost: string[] = []
  const translation: AnswerTranslation = {
    client: codec,
    upstream: codec,
    lose: (name) => lost.push(name),
    openRecorder: () => null,
    hasCall: () => false,
    openBlocks: () => null,
    goOn: async () => null,
    writeContext: () => ({}) as ReturnType<AnswerTranslation['writeContext']>,
  }
  const leg = {
    call: { inspection: { framing } },
    candidate: { upstreamModel: 'm' },
    provider: { kind: { scrub: (body: Buffer) => body }, secrets: [] },
    credential: null,
  } as unknown as Leg
  return { stage: new TranslationStage(translation, leg, inner), lost }
}

const plain: EventReading = { content: true, terminal: false, error: null, pass: null }

function event(...say: ReplyEvent[]): StreamEvent {
  const [found] = new SseFramer().push(Buffer.from(`data: ${JSON.stringify({ say })}\n\n`))
  if (found === undefined) throw new Error('no event')
  return found
}

const text = (words: string): ReplyEvent => ({ kind: 'text', part: 0, text: words })
const said = (bytes: unknown) => (Buffer.isBuffer(bytes) ? bytes.toString() : bytes)

describe('a translated stream', () => {
  it('has the client’s events in the place of the provider’s, and its end behind what was left', () => {
    const { stage } = stageFor()
    const sent = event(text('hi'))
    expect(said(stage.event(sent, sent.bytes, plain))).toBe('data: {"said":"hi"}\n\n')
    expect(said(stage.end())).toBe('data: {"said":"end"}\n\ndata: [DONE]\n\n')
    expect(stage.end()).toBeNull()
    expect(stage.event(sent, sent.bytes, plain)).toBeNull()
  })

  it('passes nothing of what says nothing', () => {
    const { stage } = stageFor()
    for (const bytes of [': comment\n\n', 'data: [DONE]\n\n']) {
      const [found] = new SseFramer().push(Buffer.from(bytes))
      if (found !== undefined) expect(stage.event(found, found.bytes, plain)).toBeNull()
    }
  })

  it('counts what the reader found and nothing carries as lost', () => {
    const { stage, lost } = stageFor()
    const sent = event({ kind: 'dropped', name: 'logprobs' }, text('x'))
    stage.event(sent, sent.bytes, plain)
    expect(lost).toEqual(['answer.logprobs'])
  })

  it('never passes a call that the model could not write', () => {
    const { stage } = stageFor()
    const stop = { reason: 'broken', sequence: null, explanation: 'MALFORMED_FUNCTION_CALL' } as const
    const sent = event({ kind: 'stop', stop })
    expect(stage.event(sent, sent.bytes, plain)).toMatchObject({ code: 'provider_bad_response' })
  })

  it('ends with the client’s own error event, and nothing after it', () => {
    const { stage } = stageFor()
    expect(said(stage.broken(fault('provider_timeout', 'too slow')))).toBe('data: {"error":"too slow"}\n\n')
    expect(stage.end()).toBeNull()
  })

  it('ends with the provider’s error in the client’s format', () => {
    const { stage } = stageFor()
    const error = { code: 'provider_error', origin: 'provider', status: 529, message: 'm', written: {} } as const
    const sent = event()
    expect(said(stage.event(sent, sent.bytes, { ...plain, error }))).toBe('data: {"error":"theirs"}\n\n')
    expect(stage.end()).toBeNull()
  })

  it('puts an event of several pieces together', () => {
    const { stage } = stageFor()
    const { bytes } = event(text('long'))
    const piece = (part: StreamEvent['part'], from: number, to?: number): StreamEvent => {
      const cut = bytes.subarray(from, to)
      return { bytes: cut, name: '', data: cut, part }
    }
    expect(stage.event(piece('head', 0, 9), null, plain)).toBeNull()
    expect(stage.event(piece('middle', 9, 20), null, plain)).toBeNull()
    expect(said(stage.event(piece('tail', 20), null, plain))).toBe('data: {"said":"long"}\n\n')
  })

  it('is one JSON array for a client that asked for no events', () => {
    const { stage } = stageFor([], 'json-array')
    const sent = event(text('a'), text('b'))
    const first = said(stage.event(sent, sent.bytes, plain))
    expect(first).toBe('[{"said":"a"},\n{"said":"b"}')
  })

  it('closes that array after an error too, and an empty one', () => {
    const elements = new ArrayElements()
    const begun = elements.write(Buffer.from('data: {"said":"a"}\r\n\r\n'), false)
    const broken = elements.write(Buffer.from('data: {"error":{}}\r\n\r\n'), true)
    expect(JSON.parse(`${begun}${broken}`)).toEqual([{ said: 'a' }, { error: {} }])
    expect(JSON.parse(new ArrayElements().write(Buffer.alloc(0), true).toString())).toEqual([])
  })
})

describe('a stage behind the translation', () => {
  const upper = (seen: string[]): AnswerStage => ({
    faultIfUnread: null,
    event: ({ bytes, data }, pass) => {
      seen.push(data.toString())
      return pass === null ? null : Buffer.from(bytes.toString().toUpperCase())
    },
    end: () => Buffer.from('data: LEFT\n\n'),
    whole: (body) => body,
  })

  it('sees the client’s events one by one, the closing ones too', () => {
    const seen: string[] = []
    const { stage } = stageFor([upper(seen)])
    const sent = event(text('a'), text('b'))
    expect(said(stage.event(sent, sent.bytes, plain))).toBe('DATA: {"SAID":"A"}\n\nDATA: {"SAID":"B"}\n\n')
    expect(said(stage.end())).toBe('DATA: {"SAID":"END"}\n\nDATA: [DONE]\n\ndata: LEFT\n\n')
    expect(seen).toEqual(['{"said":"a"}', '{"said":"b"}', '{"said":"end"}', '[DONE]'])
  })

  it('can refuse what was translated', () => {
    const refused = fault('policy_denied', 'no')
    const { stage } = stageFor([{ ...upper([]), event: () => refused }])
    const sent = event(text('a'))
    expect(stage.event(sent, sent.bytes, plain)).toBe(refused)
  })
})
