import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseObject, reported } from '../support/mock-format.ts'
import type { MockProvider } from '../support/mock-provider.ts'
import { send } from '../support/raw-http.ts'
import { type Stage, setStage } from '../support/stage.ts'

let stage: Stage
let mock: MockProvider

beforeAll(async () => {
  stage = await setStage()
  mock = stage.mocks.openai
})
afterAll(() => stage.close())

const endpoints = [
  { path: '/v1/chat/completions', input: '"messages":[{"role":"user","content":"hi"}]' },
  { path: '/v1/completions', input: '"prompt":"hi"' },
]

/** What the client wrote, from not a word to a no. */
const unasked = [
  '"stream":true',
  '"stream":true,"stream_options":null',
  '"stream":true,"stream_options":{}',
  '"stream":true,"stream_options":{ }',
  '"stream":true, "stream_options" : {"include_usage":false}',
  '"stream":true,"stream_options":{"include_usage" : null}',
  '"stream":true,"stream_options":{"include_obfuscation":false}',
  '"stream":true,"stream_options":{"include_obfuscation":false,"include_usage":false}',
  '"stre\\u0061m":true,"stream_opti\\u006fns":{"include_us\\u0061ge":false}',
  '"stream" :\n\ttrue ,"stream_options":\n{\n"include_obfuscation" : true\n}\n',
]

function post(path: string, body: string) {
  const headers: [string, string][] = [
    ['authorization', `Bearer ${stage.key}`],
    ['content-type', 'application/json'],
  ]
  return send(stage.gateway.baseUrl + path, { headers, body })
}

describe.each(endpoints)('usage of streamed $path', ({ path, input }) => {
  it.each(unasked)('is asked for and hidden when the client wrote %s', async (options) => {
    const body = `{"model":"gpt-4o-mini",${input},${options}}`
    const answer = await post(path, body)
    const sent = parseObject(Buffer.from(body))
    const asked = parseObject(mock.last.body)
    expect(asked).toMatchObject({ stream_options: { include_usage: true } })
    const options_ = { ...(sent?.stream_options ?? {}), include_usage: true }
    expect(asked).toEqual({ ...sent, stream_options: options_ })
    // By another road than the gateway's: the mock writes the member last, with no space.
    const parts = mock.last.answer.parts.map((part) => part.toString())
    const shown = parts
      .filter((part) => !part.includes('"choices":[],'))
      .map((part) => part.replace(',"usage":null', ''))
    expect(answer.body.toString()).toBe(shown.join(''))
    const record = await stage.expectRecord(answer.requestId, mock.last, 'openai')
    expect(record.tokens).toEqual(reported(mock.usage))
    const signals = [...record.routing_signals, ...record.policy_signals].map((signal) => signal.text)
    expect(signals.some((text) => /usage/i.test(text))).toBe(true)
    stage.assertClean()
  })

  it('passes untouched when the client asked', async () => {
    const body = `{"model":"gpt-4o-mini",${input},"stream":true,"stream_options":{"include_usage":true}}`
    const answer = await post(path, body)
    expect(mock.last.body.toString()).toBe(body)
    expect(answer.body.toString()).toBe(mock.last.answerBody.toString())
    expect(answer.body.toString()).toContain('"usage":null')
    await stage.expectRecord(answer.requestId, mock.last, 'openai')
  })

  it('is not asked for when the call is not streamed', async () => {
    for (const options of ['"stream":false', '"stream":null', '"n":1']) {
      const body = `{"model":"gpt-4o-mini",${input},${options}}`
      const answer = await post(path, body)
      expect(mock.last.body.toString()).toBe(body)
      expect(answer.body.toString()).toBe(mock.last.answerBody.toString())
    }
  })
})

describe('the members that asking brings', () => {
  const streamed = '{"model":"gpt-4o-mini","messages":[],"stream":true}'
  const usage = '"usage":{"prompt_tokens":11,"completion_tokens":4,"total_tokens":15}'
  const last = `data: {"choices":[],${usage}}\n\ndata: [DONE]\n\n`

  it.each([
    ['last', '{"choices":[{"delta":{"content":"a"}}],"usage":null}', '{"choices":[{"delta":{"content":"a"}}]}'],
    ['first', '{"usage":null,"choices":[{"delta":{"content":"a"}}]}', '{"choices":[{"delta":{"content":"a"}}]}'],
    [
      'in the middle',
      '{"id":"x","usage":null,"choices":[{"delta":{"content":"a"}}]}',
      '{"id":"x","choices":[{"delta":{"content":"a"}}]}',
    ],
  ])('are cut out of each chunk, byte for byte: %s', async (_place, given, shown) => {
    mock.next({ events: [`data: ${given}\n\n`, last] })
    const answer = await post('/v1/chat/completions', streamed)
    expect(answer.body.toString()).toBe(`data: ${shown}\n\ndata: [DONE]\n\n`)
    expect((await stage.gateway.record(answer.requestId)).tokens).toEqual(reported({ input: 11, output: 4 }))
  })

  it('are cut out with white space around them, and the rest stays', async () => {
    const given = '{ "usage" : null , "choices" : [ {"delta":{"content":"\\"usage\\":null"} , "x":{"usage":null}} ] }'
    mock.next({ events: [`data: ${given}\n\n`, last] })
    const answer = await post('/v1/chat/completions', streamed)
    const [line = ''] = answer.body.toString().split('\n')
    const { usage: _, ...rest } = JSON.parse(given)
    expect(JSON.parse(line.slice('data: '.length))).toEqual(rest)
    expect(line).toContain('"choices" : [ {"delta":{"content":"\\"usage\\":null"} , "x":{"usage":null}} ]')
  })

  it('stay where they are the model’s own words', async () => {
    const words = 'data: {"choices":[{"delta":{"content":",\\"usage\\":null,\\"choices\\":[]"}}]}\n\n'
    mock.next({ events: [words, last] })
    const answer = await post('/v1/chat/completions', streamed)
    expect(answer.body.toString()).toBe(`${words}data: [DONE]\n\n`)
  })

  it('leave a vendor’s usage beside real choices alone', async () => {
    const both = `data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}],${usage}}\n\n`
    mock.next({ events: [both, 'data: [DONE]\n\n'] })
    const answer = await post('/v1/chat/completions', streamed)
    expect(answer.body.toString()).toBe(`${both}data: [DONE]\n\n`)
    expect((await stage.gateway.record(answer.requestId)).tokens).toEqual(reported({ input: 11, output: 4 }))
  })
})
