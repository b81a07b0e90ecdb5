import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { promptTokens } from '../../../src/core/cost/prompt-tokens.ts'
import { lanes } from '../../../src/lanes/index.ts'
import { countedBytes, stepsOf } from '../../support/counted-bytes.ts'

const base64 = (head: Buffer | string, bytes: number, form: BufferEncoding = 'base64') =>
  Buffer.concat([Buffer.from(head), randomBytes(bytes)]).toString(form)
const png = base64(Buffer.from('89504e470d0a1a0a', 'hex'), 300_000)
const jpeg = base64(Buffer.from('ffd8ffe0', 'hex'), 300_000)
const wave = base64('RIFF1234WAVEfmt ', 320_000)
const count = (body: unknown) => promptTokens(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)))
const words = 'a few words of it, '.repeat(1000)

describe('the tokens of a prompt', () => {
  it('are a quarter of its bytes where it is text', () => {
    expect(count(words)).toBe(words.length / 4)
    expect(count({ text: 'word'.repeat(10_000) })).toBe(Math.ceil(40_011 / 4))
    // Nobody knows what it is.
    expect(count({ data: base64('', 30_000) })).toBe(Math.ceil(40_011 / 4))
    expect(count('')).toBe(0)
  })

  it.each([
    ['of OpenAI', { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }],
    ['of Anthropic', { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: jpeg } }],
    ['of Gemini', { inlineData: { mimeType: 'image/png', data: png } }],
  ])('count an image %s as one', (_whose, part) => {
    expect(Math.abs(count({ text: words, part }) - words.length / 4 - 1600)).toBeLessThan(60)
    expect(Math.abs(count([part, words, part]) - words.length / 4 - 3200)).toBeLessThan(120)
  })

  it('count an image whose slashes are escaped', () => {
    const text = JSON.stringify({ url: `data:image/jpeg;base64,${jpeg}` }).replaceAll('/', '\\/')
    expect(count(text)).toBeLessThan(1700)
  })

  it.each([
    ['begins like an image', { data: `${png.slice(0, 2000)} ${words}` }],
    ['goes on like an image', { data: `${png.slice(0, 20_000)}${words}` }],
    ['is an image in base64', { role: 'user', content: png }],
    ['holds JSON with one', { role: 'tool', content: JSON.stringify({ data: png }) }],
  ])('count as text what %s', (_what, part) => {
    const body = JSON.stringify({ messages: [part] })
    expect(count(body)).toBe(Math.ceil(body.length / 4))
  })

  it('count sound by its length', () => {
    // Ten seconds of 16,000 samples: vendors count 100 to 320.
    const tokens = count({ input_audio: { data: wave, format: 'wav' } })
    expect([tokens > 320, tokens < 3200]).toEqual([true, true])
  })

  it('cost no more than a few looks at each byte, whatever the body is', () => {
    const bodies = [
      'a'.repeat(20_000_000),
      `"${'a"'.repeat(10_000_000)}`,
      `"${'a'.repeat(5000)}`.repeat(4000),
      png.repeat(50),
    ]
    for (const body of bodies.map((text) => Buffer.from(text))) {
      const { bytes, work } = countedBytes(body)
      promptTokens(bytes)
      expect(stepsOf(work)).toBeLessThan(3 * body.length)
    }
  })
})

it('counts images in the requests of batches as it does in others', () => {
  const bodyOf = (lane: string) => {
    const content = [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }]
    const params = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content }] }
    const request = { contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data: png } }] }] }
    if (lane === 'anthropic') return { requests: [{ custom_id: 'a', params }] }
    return { batch: { inputConfig: { requests: { requests: [{ request }] } } } }
  }
  for (const [name, path] of [
    ['anthropic', '/v1/messages/batches'],
    ['gemini', '/v1beta/models/m:batchGenerateContent'],
  ]) {
    const match = lanes.find((lane) => lane.name === name)?.match('POST', path ?? '')
    const body = Buffer.from(JSON.stringify(bodyOf(name ?? '')))
    const inspection = match?.endpoint.inspect(match, '', body)
    if (!match || !inspection || 'code' in inspection) throw new Error('no such endpoint')
    const asks = match.endpoint.batchAsks?.(inspection, body, []) ?? []
    expect(asks.map(({ lines, bytes }) => [lines, bytes > 6000, bytes < 7000])).toEqual([[1, true, true]])
  }
})
