import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SseFramer } from '../../../src/core/bytes/sse.ts'
import type { StreamFramer } from '../../../src/core/bytes/stream-event.ts'
import { JsonArrayFramer } from '../../../src/core/json/json-array.ts'
import { mintGatewayKey } from '../../../src/core/secrets/gateway-key.ts'
import { findAll } from '../../../src/policy/detectors/detector.ts'
import { detectors } from '../../../src/policy/detectors/index.ts'
import { type Masked, maskAcrossEvents, maskJsonText } from '../../../src/policy/detectors/mask.ts'

const find = (text: string) => findAll(text, Object.values(detectors))

function end(work: Generator<void, Masked>): Masked {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

const maskJson = (text: string) => end(maskJsonText(text, find))
const maskStream = (text: string, framer: StreamFramer = new SseFramer()) => {
  const joined = end(maskAcrossEvents(text, framer, find))
  return maskJson(joined.text).text
}

const email = 'jane.doe@example.com'
const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)])
}

describe('JSON that is masked', () => {
  it.each([
    [`{"a":"x\\n${email}\\u0022"}`, '{"a":"x\\n[email address]\\""}'],
    [`{"a":"jane\\u0040example.com"}`, '{"a":"[email address]"}'],
    [`{ "${email}" : [1e400, 4111111111111111] }`, '{ "[email address]" : [1e400, [card number]] }'],
    [`{"arguments":"{\\"to\\":\\"${email}\\"}"}`, '{"arguments":"{\\"to\\":\\"[email address]\\"}"}'],
    [`{"a":"${email}","b":"cut ${email.slice(0, 16)}`, '{"a":"[email address]","b":"cut jane.doe@example'],
    [`{"a":"b","c":"cut within an escape \\`, '{"a":"b","c":"cut within an escape \\'],
    [`no JSON "at all\nbut ${email}`, 'no JSON "at all\nbut [email address]'],
  ])('%s', (text, masked) => {
    expect(maskJson(text).text).toBe(masked)
  })

  it('says how often something was replaced, and leaves every byte where nothing was', () => {
    expect(maskJson(`["${email}", "${email}"]`).places).toBe(2)
    const plain = '{\n  "a" : "\\u00e9\\/\\n", "n": 1.0000000000000000001 }\n'
    expect(maskJson(plain)).toEqual({ text: plain, places: 0 })
  })

  it('stays JSON of the same shape, with nothing left to find', () => {
    const text = fc.oneof(
      fc.string(),
      fc
        .constantFrom(email, '\\', '"', '\n', ' +49301234567', '\u2028')
        .chain((word) => fc.tuple(fc.string(), fc.string()).map(([before, after]) => `${before} ${word} ${after}`)),
    )
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 3 },
        text,
        fc.integer(),
        fc.boolean(),
        fc.array(tie('any')),
        // A name that is an e-mail address (`0@A.A0`) is masked too, and its shape changes.
        fc.dictionary(
          fc.string().filter((name) => !name.includes('@')),
          tie('any'),
        ),
      ),
    })).any
    fc.assert(
      fc.property(value, fc.constantFrom(0, 2), (value, space) => {
        const written = JSON.stringify({ value }, null, space)
        const { text: masked } = maskJson(written)
        expect(masked).not.toContain(email)
        expect(shapeOf(JSON.parse(masked))).toEqual(shapeOf(JSON.parse(written)))
      }),
    )
  })
})

const chat = (index: number, content: string) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', model: 'm', choices: [{ index, delta: { content } }] })}\n\n`
const textOf = (stream: string, index = 0) =>
  stream
    .split('\n\n')
    .filter((line) => line.startsWith('data: {'))
    .flatMap((line) => JSON.parse(line.slice(6)).choices)
    .filter((choice) => choice.index === index)
    .map((choice) => choice.delta.content)
    .join('')

describe('a stream that is masked', () => {
  it('keeps every byte where there is nothing to find', () => {
    const stream = `: hi\n\n${chat(0, 'a')}event: x\ndata: {"b": 1}\n\n${chat(0, 'b')}data: [DONE]\n\n`
    expect(maskStream(stream)).toBe(stream)
  })

  it('finds what is spread over events, each of several answers by itself', () => {
    const stream = ['jane', '.doe', '@exam', 'ple.com', ' and']
      .flatMap((piece) => [chat(0, piece), chat(1, 'x')])
      .join('')
    const masked = maskStream(stream)
    expect(textOf(masked)).toBe('[email address] and')
    expect(textOf(masked, 1)).toBe('xxxxx')
  })

  it.each([
    [
      'anthropic',
      (text: string) =>
        `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })}\n\n`,
    ],
    [
      'responses',
      (delta: string) => `data: ${JSON.stringify({ type: 'response.output_text.delta', output_index: 0, delta })}\n\n`,
    ],
    [
      'gemini',
      (text: string) => `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text }] } }] })}\r\n\r\n`,
    ],
    [
      'a tool call',
      (arguments_: string) =>
        `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: arguments_ } }] } }] })}\n\n`,
    ],
  ])('finds a key in pieces in the events of %s', (_, write) => {
    const key = mintGatewayKey()
    const stream = [key.slice(0, 5), key.slice(5, 30), key.slice(30), ' is it'].map(write).join('')
    const masked = maskStream(stream)
    expect(masked).toContain('[gateway key]')
    for (const piece of [key.slice(8, 14), key.slice(34)]) expect(masked).not.toContain(piece)
  })

  it('finds it in an array that is streamed, and in one that is cut', () => {
    const part = (text: string) => JSON.stringify({ candidates: [{ content: { parts: [{ text }] } }] })
    const stream = `[${['so jane.doe@ex', 'ample.com', '!'].map(part).join(',\n')}`
    for (const text of [`${stream}]`, stream])
      expect(maskStream(text, new JsonArrayFramer())).toBe(
        text.replace('jane.doe@ex', '[email address]').replace('ample.com', ''),
      )
  })

  it('finds it wherever it is cut', () => {
    const pieces = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 12, maxLength: 40 })
    const whole = `Write to ${email}, or call +49 30 1234567, and pay 4111 1111 1111 1111.`
    fc.assert(
      fc.property(pieces, (lengths) => {
        const cuts: string[] = []
        let rest = whole
        for (const length of lengths) {
          cuts.push(rest.slice(0, length))
          rest = rest.slice(length)
        }
        const masked = maskStream([...cuts, rest].map((content) => chat(0, content)).join(''))
        expect(textOf(masked)).toBe('Write to [email address], or call [phone number], and pay [card number].')
      }),
    )
  })
})
