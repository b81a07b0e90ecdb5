import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decoder } from '../../src/providers/bedrock/event-codec.ts'
import { EventStreamSink } from '../../src/providers/bedrock/event-stream.ts'
import { anthropicError, changeMembers } from '../../src/providers/wire/anthropic-hosted.ts'
import { frame } from '../support/mock-bedrock.ts'
import { RecordingSink } from './recording-sink.ts'

const name = fc.constantFrom('model', 'stream', 'anthropic_version', 'a', 'b', 'mod\u0065l ', 'messages')
const space = fc.constantFrom('', ' ', '\n\t')
const member = fc.tuple(name, fc.jsonValue(), space, space)

describe('members that move out of a body', () => {
  it('are out, those put in are in, and the rest is as it was', () => {
    fc.assert(
      fc.property(fc.array(member, { maxLength: 6 }), space, (members, around) => {
        const text = members
          .map(
            ([key, value, before, after]) =>
              `${before}${JSON.stringify(key)}${after}:${before}${JSON.stringify(value)}${after}`,
          )
          .join(',')
        const body = `${around}{${text}${around}}${around}`
        const changed = changeMembers(Buffer.from(body), ['model', 'stream'], { anthropic_version: '"v"' }).toString()
        const before = JSON.parse(body) as Record<string, unknown>
        const { model: _, stream: __, anthropic_version: own, ...rest } = before
        const version = 'anthropic_version' in before ? own : 'v'
        expect(JSON.parse(changed)).toEqual({ ...rest, anthropic_version: version })
      }),
    )
  })

  it('leave big numbers and escapes as they were written', () => {
    const body = '{"model":"x","n":12345678901234567890,"t":"\\u00e9\\/","stream":true}'
    expect(changeMembers(Buffer.from(body), ['model', 'stream'], { v: '1' }).toString()).toBe(
      '{"n":12345678901234567890,"t":"\\u00e9\\/","v":1}',
    )
  })

  it('stay where the body is no object', () => {
    for (const body of ['', '[]', '{"model":', 'null'].map((text) => Buffer.from(text)))
      expect(changeMembers(body, ['model'], { v: '1' })).toBe(body)
  })
})

describe('the event stream', () => {
  const event = (data: unknown) =>
    frame({ ':message-type': 'event' }, { bytes: Buffer.from(JSON.stringify(data)).toString('base64'), p: 'abc' })
  const events = [
    { type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 1 } } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Grüße 🌍\n"quoted"' } },
    { type: 'message_stop', 'amazon-bedrock-invocationMetrics': { inputTokenCount: 1, outputTokenCount: 2 } },
  ]
  const wanted = events
    .map(
      ({ 'amazon-bedrock-invocationMetrics': _, ...data }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`,
    )
    .join('')
  const bytes = Buffer.concat(events.map(event))

  function feed(chunks: readonly Buffer[]): RecordingSink {
    const sink = new RecordingSink()
    const framed = new EventStreamSink(sink, decoder)
    framed.onHead(200, ['content-type', 'application/vnd.amazon.eventstream', 'content-length', '9'])
    for (const chunk of chunks) framed.onData(chunk)
    framed.onEnd()
    return sink
  }

  it('comes out the same however it was cut', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: bytes.length }), { maxLength: 12 }), (cuts) => {
        const places = [0, ...cuts.sort((one, other) => one - other), bytes.length]
        const sink = feed(places.slice(1).map((end, index) => bytes.subarray(places[index], end)))
        expect(sink.text).toBe(wanted)
        expect(sink.headers).toEqual(['content-type', 'text/event-stream; charset=utf-8'])
        expect(sink.fault).toBeNull()
      }),
    )
  })

  it('is broken where a byte of it is another, and never says what was not sent', () => {
    fc.assert(
      fc.property(fc.nat({ max: bytes.length - 1 }), fc.integer({ min: 1, max: 255 }), (place, change) => {
        const wrong = Buffer.from(bytes)
        wrong[place] = (wrong[place] ?? 0) ^ change
        const sink = feed([wrong])
        expect(sink.fault).not.toBeNull()
        expect(wanted.startsWith(sink.text)).toBe(true)
      }),
    )
  })

  it.each([
    ['throttlingException', 'rate_limit_error'],
    ['validationException', 'invalid_request_error'],
    ['modelStreamErrorException', 'api_error'],
  ])('ends in the error of the lane for %s', (exception, type) => {
    const names = { ':message-type': 'exception', ':exception-type': exception }
    const { text } = feed([frame(names, { message: 'words' })])
    expect(text).toBe(`event: error\ndata: {"type":"error","error":{"type":"${type}","message":"words"}}\n\n`)
  })

  it('passes what is none as it came', () => {
    const sink = new RecordingSink()
    const framed = new EventStreamSink(sink, decoder)
    framed.onHead(200, ['content-type', 'application/json'])
    framed.onData(Buffer.from('{"type":"message"}'))
    framed.onEnd()
    expect([sink.text, sink.events.at(-1)]).toEqual(['{"type":"message"}', 'over'])
  })
})

describe("a cloud's error on the Anthropic lane", () => {
  it.each([
    [400, '{"message":"m"}', 'invalid_request_error', 'm'],
    [403, '{"Message":"m"}', 'permission_error', 'm'],
    [429, '[{"error":{"code":429,"message":"m"}}]', 'rate_limit_error', 'm'],
    [500, '<html>', 'api_error', 'The provider answered 500.'],
    [424, '', 'api_error', 'The provider answered 424.'],
  ])('%i %s', (status, body, type, message) => {
    expect(JSON.parse(anthropicError(status, Buffer.from(body)).toString())).toEqual({
      type: 'error',
      error: { type, message },
    })
  })

  it("keeps its bytes where it is Anthropic's own", () => {
    const body = Buffer.from('{"type":"error","error":{"type":"overloaded_error","message":"m"}}')
    expect(anthropicError(529, body)).toBe(body)
  })
})
