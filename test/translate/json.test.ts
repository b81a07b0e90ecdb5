import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { asObject } from '../../src/core/json/json-value.ts'
import {
  decodeText,
  embedJson,
  joinPieces,
  parseLossless,
  readDocument,
  standardBase64,
  writeDocument,
  writeRequestPieces,
} from '../../src/translate/json.ts'

const long = 'A'.repeat(100_000)

function rewrite(text: string): string {
  const document = readDocument(Buffer.from(text))
  return 'code' in document ? 'no document' : writeDocument(document.value, document.pieces).toString()
}

describe('JSON without loss', () => {
  it('keeps large numbers and the form of numbers', () => {
    const text = '{"id":12345678901234567890,"half":1.0,"small":1e-7,"plain":42,"list":[0.10]}'
    expect(rewrite(text)).toBe(text)
  })

  const digits = fc.stringMatching(/^\d{1,24}$/)
  const number = fc
    .tuple(
      fc.constantFrom('', '-'),
      digits,
      fc.option(digits),
      fc.option(fc.tuple(fc.constantFrom('e', 'E', 'e-', 'E+'), fc.nat(30))),
    )
    .map(([sign, whole, part, power]) => {
      const plain = `${sign}${whole.replace(/^0+(?=\d)/, '')}`
      return `${plain}${part === null ? '' : `.${part}`}${power?.join('') ?? ''}`
    })

  it('keeps every number as it was written, wherever it stands', () => {
    const odd = fc.constantFrom('-0', '0.0000001', '1.50', '100', '0.0', '-0.0', '1e5', '1234567890.1234567')
    const gap = fc.constantFrom('', ' ', '\n')
    const written = fc.tuple(fc.array(fc.oneof(number, odd), { minLength: 1 }), gap)
    fc.assert(
      fc.property(written, ([numbers, space]) => {
        const text = `{"a":[${numbers.join(`${space},${space}`)}],"b":${space}${numbers[0]}${space}}`
        expect(rewrite(text)).toBe(text.replaceAll(/\s/g, ''))
        expect(JSON.stringify(parseLossless(numbers[0] ?? ''))).toBe(numbers[0])
        expect(JSON.stringify(parseLossless(text))).toBe(text.replaceAll(/\s/g, ''))
      }),
    )
  })

  it('keeps what is deeper than usual as it was, whatever its texts hold', () => {
    const nested = (depth: number, text: string) => `${`["${text}",`.repeat(depth)}1${']'.repeat(depth)}`
    for (const text of [']]]]', '\\\\', '\\"]']) {
      const body = `{"a":${nested(1500, text)}}`
      expect(rewrite(body)).toBe(body)
      expect(rewrite(`{"a":${nested(100_000, text)}}`)).toBe('no document')
    }
  })

  it('keeps lone surrogates, repeated keys as the last, and a member named __proto__', () => {
    expect(rewrite('{"half":"\\ud83d"}')).toBe('{"half":"\\ud83d"}')
    expect(rewrite('{"a":1,"a":2}')).toBe('{"a":2}')
    expect(rewrite('{"__proto__":{"x":1}}')).toBe('{"__proto__":{"x":1}}')
  })

  it('opencode PR 13985: writes no half of a character to a provider, whose parser refuses all of the request', () => {
    const written = (text: string) => {
      const document = readDocument(Buffer.from(`{"a":${text}}`))
      if (!('pieces' in document)) throw new Error(document.message)
      return joinPieces(writeRequestPieces(document.value, document.pieces)).toString()
    }
    expect(written('"\\ud83d x"')).toBe('{"a":"\ufffd x"}')
    expect(written('"\\ude00\\ud83d\\ude00\\ud83d"')).toBe('{"a":"\ufffd\u{1f600}\ufffd"}')
    // A backslash and letters are none.
    expect(written('"\\\\ud83d"')).toBe('{"a":"\\\\ud83d"}')
    const embedded = { a: embedJson('{"x": "\\uD83D\\uDE00 \\uD83D"}') }
    expect(joinPieces(writeRequestPieces(embedded, [])).toString()).toBe('{"a":{"x": "\\uD83D\\uDE00 \ufffd"}}')
  })

  it('reads no document from what is none', () => {
    expect(rewrite('[1]')).toBe('no document')
    expect(rewrite('{"a":')).toBe('no document')
    expect(rewrite(`{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`)).toBe('no document')
  })

  it('refuses more values than any request has, and counts none within texts', () => {
    const most = 200_000
    expect(readDocument(Buffer.from(`{"a":[${'0,'.repeat(most)}0]}`))).toMatchObject({ code: 'request_too_large' })
    expect(readDocument(Buffer.from(`{"a":"${',[{'.repeat(most)}"}`))).toMatchObject({ pieces: [{}] })
  })

  it('cuts long texts out, and shows their beginning', () => {
    const text = `{"a":"say \\"hi\\" \\\\","b":"data:image/png;base64,${long}","c":"${long}ü${long}","d":1}`
    const document = readDocument(Buffer.from(text))
    if ('code' in document) throw new Error(document.message)
    expect(document.pieces).toHaveLength(2)
    const { b } = document.value
    expect(String(b).length).toBeLessThan(700)
    expect(String(b)).toMatch(/^data:image\/png;base64,AAA/)
    expect(writeDocument(document.value, document.pieces).toString()).toBe(text)
  })

  it('puts long texts back at another place, in part, and within JSON in a string', () => {
    const document = readDocument(Buffer.from(`{"url":"data:image/png;base64,${long}"}`))
    if ('code' in document) throw new Error(document.message)
    const data = String(document.value.url).slice('data:image/png;base64,'.length)
    const written = writeDocument({ inner: { data }, text: JSON.stringify({ data }) }, document.pieces).toString()
    expect(written).toBe(JSON.stringify({ inner: { data: long }, text: JSON.stringify({ data: long }) }))
  })

  it('writes base64 of the alphabet for URLs in the usual one, also what was cut out of it', () => {
    const urlSafe = 'ab-_'.repeat(30_000)
    const document = readDocument(Buffer.from(JSON.stringify({ long: urlSafe, short: 'a-_=', text: urlSafe })))
    if ('code' in document) throw new Error(document.message)
    expect(document.pieces).toHaveLength(2)
    const { long: kept, short, text } = document.value
    const value = { data: standardBase64(String(kept)), short: standardBase64(String(short)), text }
    const written = writeDocument(value, document.pieces).toString()
    expect(written).toBe(JSON.stringify({ data: 'ab+/'.repeat(30_000), short: 'a+/=', text: urlSafe }))
  })

  it.each([
    ['short', 'Größe "1"\n', 'base64'],
    ['long', 'Größe "1"\n'.repeat(20_000), 'base64'],
    ['long, in the alphabet for URLs', '>>>???'.repeat(20_000), 'base64url'],
  ] as const)('writes a %s text that is said in base64', (_, text, encoding) => {
    const document = readDocument(Buffer.from(JSON.stringify({ text: Buffer.from(text).toString(encoding) })))
    if ('code' in document) throw new Error(document.message)
    const data = decodeText(standardBase64(String(document.value.text)))
    expect(writeDocument({ data, next: 'a' }, document.pieces).toString()).toBe(
      JSON.stringify({ data: text, next: 'a' }),
    )
  })

  it('writes a value from its JSON text', () => {
    const written = writeDocument({ input: embedJson('{ "b": 1.0, "2": 3, "1": "\\u0041" }'), next: true }).toString()
    expect(written).toBe('{"input":{ "b": 1.0, "2": 3, "1": "\\u0041" },"next":true}')
  })

  it('looks once at each of many backslashes, where there is something to put back', () => {
    // Half a million of them would take minutes, if each were looked at again from each before it.
    const many = '\\'.repeat(500_000)
    const written = writeDocument({ input: embedJson('{"a":1}'), many }).toString()
    expect(written).toBe(`{"input":{"a":1},"many":${JSON.stringify(many)}}`)
  })

  it('takes no text of a client for a mark', () => {
    const text = '{"a":"\\u0001c0.","b":"\\u0001j"}'
    expect(rewrite(text)).toBe(text)
  })

  it('changes no document', () => {
    const lengths = fc.integer({ min: 65_000, max: 66_500 })
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      lengths.map((length) => '/+9='.repeat(length / 4)),
      lengths.map((length) => 'ß\n'.repeat(length / 2)),
    )
    fc.assert(
      fc.property(fc.dictionary(fc.string({ maxLength: 5 }), fc.array(texts, { maxLength: 3 })), (value) => {
        const text = JSON.stringify(value)
        expect(rewrite(text)).toBe(JSON.stringify(asObject(parseLossless(text))))
      }),
      { numRuns: 60 },
    )
  })
})
