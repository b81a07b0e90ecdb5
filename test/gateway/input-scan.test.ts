import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BatchInput, HeldInput } from '../../src/core/objects/batch-input.ts'
import { InputScan } from '../../src/gateway/objects/input-scan.ts'
import { type LineReader, lineReaders } from '../../src/lanes/line-readers.ts'

const openai: LineReader = lineReaders.openai!
const gemini: LineReader = lineReaders.gemini!

function scan(text: string | Buffer, reader = openai): BatchInput | null {
  const input = new InputScan(reader)
  input.add(Buffer.from(text))
  return input.end()
}

const line = (body: object, more: object = {}) =>
  JSON.stringify({ custom_id: '1', method: 'POST', url: '/v1/responses', body, ...more })
const plain = { model: 'gpt-1', input: 'hi' }
const file = { role: 'user', content: [{ type: 'input_file', file_id: 'file-a' }] }
const file_search = { type: 'file_search', vector_store_ids: ['vs-a'] }

/** Of so many lines, whatever their length. */
const ask = (model: string | null, lines: number, output: number, unlimited: number) => ({
  ...{ model, lines, output, unlimited, bytes: expect.any(Number), longest: expect.any(Number) },
})

describe('the lines of an input file', () => {
  it('tell which models and objects they name, each once', () => {
    const lines = [
      line(plain),
      '',
      line({ ...plain, input: [file], tools: [file_search] }),
      line({ model: 'gpt-2', input: [file], metadata: { file_id: 'no-file' } }),
      line({ model: 'emb-1', input: 'x' }, { url: '/v1/embeddings' }),
    ]
    expect(scan(lines.join('\r\n'))).toEqual({
      lines: 4,
      models: ['gpt-1', 'gpt-2', 'emb-1'],
      objects: expect.arrayContaining([
        { type: 'file', id: 'file-a' },
        { type: 'vector_store', id: 'vs-a' },
      ]),
      unread: null,
      asks: [
        { ...ask('gpt-1', 2, 0, 2), tools: expect.objectContaining({ fileSearches: 1 }) },
        ask('gpt-2', 1, 0, 1),
        ask('emb-1', 1, 0, 0),
      ],
    })
  })

  it('tell what their requests may come to, by model', () => {
    const lines = [
      line({ ...plain, max_output_tokens: 50 }),
      line({ model: 'gpt-1', messages: [], max_tokens: 7, n: 3 }, { url: '/v1/chat/completions' }),
      line({ model: 'gpt-2', input: 'hi' }),
    ]
    expect(scan(lines.join('\n'))?.asks).toMatchObject([
      { model: 'gpt-1', lines: 2, output: 71, unlimited: 0 },
      { model: 'gpt-2', bytes: 30, longest: 30, output: 0, unlimited: 1 },
    ])
  })

  it('may hold what separates lines of text', () => {
    expect(scan(line({ ...plain, input: 'one\u2028two\u0085{' }))).toMatchObject({ unread: expect.any(String) })
    expect(scan(line({ ...plain, input: 'one\u2028two\u2029 three' }))).toMatchObject({ lines: 1, unread: null })
  })

  it('may leave the endpoint to the batch, or write it without the version', () => {
    const audio = { role: 'assistant', audio: { id: 'audio_1' } }
    const bare = JSON.stringify({
      custom_id: '1',
      body: { model: 'gpt-1', messages: [audio], previous_response_id: 'r' },
    })
    expect(scan(`${bare}\n${line({ model: 'gpt-2', messages: [] }, { url: '/chat/completions' })}`)).toEqual({
      lines: 2,
      models: ['gpt-1', 'gpt-2'],
      objects: expect.arrayContaining([
        { type: 'item', id: 'audio_1' },
        { type: 'response', id: 'r' },
      ]),
      unread: null,
      asks: [ask('gpt-1', 1, 0, 1), ask('gpt-2', 1, 0, 1)],
    })
  })

  it('tell of Gemini’s, in both spellings', () => {
    const part = (name: string, data: object) => ({ contents: [{ parts: [{ [name]: data }] }] })
    const lines = [
      { key: '1', request: { ...part('fileData', { fileUri: 'files/a' }), cachedContent: 'cachedContents/c' } },
      { key: '2', request: { ...part('file_data', { file_uri: 'files/b' }), model: 'models/gemini-1' } },
    ]
    expect(scan(lines.map((each) => JSON.stringify(each)).join('\n'), gemini)).toEqual({
      lines: 2,
      models: ['gemini-1'],
      objects: expect.arrayContaining([
        { type: 'file', id: 'files/a' },
        { type: 'file', id: 'files/b' },
        { type: 'cached_content', id: 'cachedContents/c' },
      ]),
      unread: null,
      asks: [ask(null, 1, 0, 1), ask('gemini-1', 1, 0, 1)],
    })
  })

  it.each([
    ['what is no JSON', '{"url":', 'line 1: it is not a JSON object'],
    ['a member twice', line(plain).replace('{', '{"body":{},'), 'line 1: it must have one `url` and one `body`'],
    ['a member twice behind an escape', line(plain).replace('{', '{"\\u0075rl":"/v1/x",'), 'must have one `url`'],
    ['another endpoint', `${line(plain)}\n${line(plain, { url: '/v1/files' })}`, 'line 2: its url is not an endpoint'],
    ['an object’s own endpoint', line(plain, { url: '/v1/responses/resp_1' }), 'its url is not an endpoint'],
    ['no model', line({ input: 'hi' }), 'line 1: `model` is missing'],
    ['two models', line(plain).replace('"input"', '"model":"gpt-2","input"'), '`model` is given twice'],
    ['a line within a line', `{"a":"\r${line(plain)}\r","b":1}`, 'begin a line'],
    ['one behind a separator of Unicode', line({ ...plain, input: `x\u2028 ${line(plain)}` }), 'begin a line'],
    ['a line too long', `{"a":"${'x'.repeat(4 * 2 ** 20)}"}`, 'line 1 is longer than'],
    [
      'too many models',
      Array.from({ length: 51 }, (_, index) => line({ ...plain, model: `m${index}` })).join('\n'),
      '50',
    ],
    [
      'too many objects',
      line({
        ...plain,
        tools: [{ ...file_search, vector_store_ids: Array.from({ length: 901 }, (_, n) => `vs-${n}`) }],
      }),
      'more than 900 objects',
    ],
  ])('are not known with %s', (_, text, unread) => {
    const found = scan(text)
    expect(found).toMatchObject({ models: [], objects: [] })
    expect(found?.unread).toContain(unread)
  })

  it('are none where a file of another kind passes', () => {
    expect(scan('%PDF-1.7\n{"url":1}')).toBeNull()
    expect(scan('')).toBeNull()
    expect(scan('\ufeff{"url":1}')).toBeNull()
  })

  it('are the same where the file comes in parts, to whatever thread', () => {
    // The same model, with and without others that may answer in its place.
    const others = line({ ...plain, models: ['gpt-2'] })
    const lines = [line(plain), line({ ...plain, model: 'gpt-2', input: [file] }), others, line(plain), others]
    const whole = Buffer.from(lines.join('\n'))
    expect(scan(whole)?.asks).toHaveLength(3)
    fc.assert(
      fc.property(fc.array(fc.nat({ max: whole.length }), { maxLength: 6 }), (cuts) => {
        let [held, from]: [HeldInput | null, number] = [null, 0]
        for (const to of cuts.sort((one, other) => one - other)) {
          const part = new InputScan(openai, held)
          part.add(whole.subarray(from, to))
          held = structuredClone(part.hold())
          from = to
        }
        const last = new InputScan(openai, held)
        last.add(whole.subarray(from))
        expect(last.end()).toEqual(scan(whole))
      }),
    )
  })
})
