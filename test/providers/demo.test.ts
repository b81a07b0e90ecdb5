import { describe, expect, it } from 'vitest'
import type { LaneName } from '../../src/core/lane.ts'
import { answerStream } from '../../src/providers/demo/answer.ts'

import { behaviourOf, demoModels } from '../../src/providers/demo/behaviour.ts'
import { Player } from '../../src/providers/demo/player.ts'
import { demo } from '../../src/providers/demo.ts'
import { readErrorBody } from '../../src/providers/wire/status.ts'
import { RecordingSink } from './recording-sink.ts'

/** The member at `path` (`choices.0.delta.content`), undefined where the way ends. */
function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, name) => {
    return typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>)[name] : undefined
  }, value)
}

function numberAt(value: unknown, path: string): number {
  const found = at(value, path)
  if (typeof found !== 'number') throw new Error(`no number at ${path}`)
  return found
}

async function call(lane: LaneName, path: string, body: unknown) {
  const sink = new RecordingSink()
  const address = demo.address({ name: 'demo', baseUrl: 'demo:', settings: {} }, lane, path)
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  demo.transport?.send({ method: 'POST', ...address, headers: [], body: bytes, connectMs: 1000 }, sink)
  await sink.seen('over')
  return sink
}

async function callJson(lane: LaneName, path: string, body: unknown): Promise<object> {
  const sink = await call(lane, path, body)
  expect(sink.headers).toContain('application/json')
  return JSON.parse(sink.text)
}

/** Every block must be whole: name (or '') and data. */
function readEvents(text: string): { name: string; data: string }[] {
  expect(text).toMatch(/\r?\n\r?\n$/)
  return text
    .split(/\r?\n\r?\n/)
    .filter((block) => block !== '')
    .map((block) => {
      const lines = block.split(/\r?\n/)
      const read = (field: string) => lines.find((line) => line.startsWith(`${field}: `))?.slice(field.length + 2) ?? ''
      return { name: read('event'), data: read('data') }
    })
}

const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: [{ type: 'text', text: 'What is a lane?' }] },
]

describe('openai', () => {
  it('chats', async () => {
    const answer = await callJson('openai', '/chat/completions', { model: 'any-name', messages })
    expect(at(answer, 'object')).toBe('chat.completion')
    expect(at(answer, 'model')).toBe('any-name')
    expect(at(answer, 'choices.0.message.content')).toMatch(/demo provider.*What is a lane\?/)
    expect(at(answer, 'choices.0.finish_reason')).toBe('stop')
    expect(at(answer, 'usage.total_tokens')).toBe(
      numberAt(answer, 'usage.prompt_tokens') + numberAt(answer, 'usage.completion_tokens'),
    )
  })

  it.each([true, false])('streams a chat, usage asked for: %s', async (asked) => {
    const whole = await callJson('openai', '/chat/completions', { model: 'demo', messages })
    const options = asked ? { stream_options: { include_usage: true } } : {}
    const sink = await call('openai', '/chat/completions', { model: 'demo', messages, stream: true, ...options })
    const events = readEvents(sink.text)
    expect(events.pop()?.data).toBe('[DONE]')
    const chunks = events.map((event) => JSON.parse(event.data))
    const text = chunks.map((chunk) => at(chunk, 'choices.0.delta.content') ?? '').join('')
    expect(text).toBe(at(whole, 'choices.0.message.content'))
    expect(chunks.filter((chunk) => at(chunk, 'choices.0.finish_reason') === 'stop')).toHaveLength(1)
    expect(new Set(chunks.map((chunk) => at(chunk, 'id'))).size).toBe(1)
    if (asked) {
      expect(chunks.at(-1)).toMatchObject({ choices: [], usage: at(whole, 'usage') })
      expect(chunks.slice(0, -1).every((chunk) => at(chunk, 'usage') === null)).toBe(true)
    } else expect(chunks.every((chunk) => !('usage' in chunk) && at(chunk, 'choices.length') === 1)).toBe(true)
    expect(sink.chunks.length).toBeGreaterThan(5)
  })

  it('obeys the limit on output', async () => {
    const answer = await callJson('openai', '/chat/completions', { model: 'demo', messages, max_completion_tokens: 3 })
    expect(at(answer, 'choices.0.finish_reason')).toBe('length')
    expect(at(answer, 'usage.completion_tokens')).toBe(3)
  })

  it('completes, whole and streamed', async () => {
    const whole = await callJson('openai', '/completions', { model: 'demo', prompt: 'Once' })
    expect(whole).toMatchObject({ object: 'text_completion', choices: [{ finish_reason: 'stop' }] })
    const events = readEvents(
      (await call('openai', '/completions', { model: 'demo', prompt: 'Once', stream: true })).text,
    )
    expect(events.pop()?.data).toBe('[DONE]')
    expect(events.map((event) => at(JSON.parse(event.data), 'choices.0.text')).join('')).toBe(
      at(whole, 'choices.0.text'),
    )
  })

  it('responds, whole and streamed', async () => {
    const whole = await callJson('openai', '/responses', { model: 'demo', input: 'Hello' })
    expect(whole).toMatchObject({
      object: 'response',
      status: 'completed',
      output: [{ type: 'message', status: 'completed' }],
    })
    const events = readEvents(
      (await call('openai', '/responses', { model: 'demo', input: [{ role: 'user', content: 'Hello' }], stream: true }))
        .text,
    )
    const datas = events.map((event) => JSON.parse(event.data))
    expect(datas.map((data) => at(data, 'type'))).toEqual(events.map((event) => event.name))
    expect(datas.map((data) => at(data, 'sequence_number'))).toEqual(datas.map((_, index) => index))
    expect(datas[0]?.type).toBe('response.created')
    expect(datas.at(-1)).toMatchObject({
      type: 'response.completed',
      response: { status: 'completed', usage: at(whole, 'usage') },
    })
    const text = datas
      .filter((data) => at(data, 'type') === 'response.output_text.delta')
      .map((data) => at(data, 'delta'))
    expect(text.join('')).toBe(at(whole, 'output.0.content.0.text'))
  })

  it('embeds: the same text alike, as floats and as base64', async () => {
    const floats = await callJson('openai', '/embeddings', {
      model: 'demo',
      input: ['red cat', 'red cat', 'blue'],
      dimensions: 64,
    })
    const [first, second, third] = [0, 1, 2].map((index) => at(floats, `data.${index}.embedding`) as number[])
    expect(first).toEqual(second)
    expect(first).not.toEqual(third)
    expect(first).toHaveLength(64)
    expect(Math.hypot(...(first ?? []))).toBeCloseTo(1, 5)
    const packed = await callJson('openai', '/embeddings', {
      model: 'demo',
      input: 'red cat',
      dimensions: 64,
      encoding_format: 'base64',
    })
    const bytes = Buffer.from(String(at(packed, 'data.0.embedding')), 'base64')
    expect(bytes.readFloatLE(0)).toBe(first?.[0])
    expect(bytes).toHaveLength(256)
  })

  it('moderates one result an input', async () => {
    const answer = await callJson('openai', '/moderations', { input: ['a', 'b'] })
    expect(at(answer, 'results')).toHaveLength(2)
    expect(at(answer, 'results.0.flagged')).toBe(false)
  })
})

describe('anthropic', () => {
  const body = {
    model: 'demo',
    max_tokens: 100,
    system: 'Be brief.',
    messages: [{ role: 'user', content: 'Hello there' }],
  }

  it('answers messages, whole and streamed', async () => {
    const whole = await callJson('anthropic', '/v1/messages?beta=true', body)
    expect(whole).toMatchObject({
      type: 'message',
      role: 'assistant',
      stop_reason: 'end_turn',
      content: [{ type: 'text' }],
    })
    const sink = await call('anthropic', '/v1/messages', { ...body, stream: true })
    const events = readEvents(sink.text)
    expect(events.every((event) => at(JSON.parse(event.data), 'type') === event.name)).toBe(true)
    const names = events.map((event) => event.name)
    expect([names[0], names.at(-2), names.at(-1)]).toEqual(['message_start', 'message_delta', 'message_stop'])
    const text = events.map((event) => at(JSON.parse(event.data), 'delta.text') ?? '').join('')
    expect(text).toBe(at(whole, 'content.0.text'))
    expect(at(JSON.parse(events.at(-2)?.data ?? ''), 'usage.output_tokens')).toBe(at(whole, 'usage.output_tokens'))
    expect(sink.headers).toContain('request-id')
  })

  it('counts tokens as it bills them', async () => {
    const counted = await callJson('anthropic', '/v1/messages/count_tokens', body)
    const whole = await callJson('anthropic', '/v1/messages', body)
    expect(counted).toEqual({ input_tokens: at(whole, 'usage.input_tokens') })
  })
})

describe('gemini', () => {
  const body = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }
  const join = (answers: object[]) => answers.map((answer) => at(answer, 'candidates.0.content.parts.0.text')).join('')

  it('generates: whole, as events, and as an array', async () => {
    const whole = await callJson('gemini', '/v1beta/models/gemini-x:generateContent', body)
    expect(at(whole, 'modelVersion')).toBe('gemini-x')
    const events = readEvents((await call('gemini', '/v1/models/gemini-x%3AstreamGenerateContent?alt=sse', body)).text)
    const parts = events.map((event) => JSON.parse(event.data))
    const array = JSON.parse(
      (await call('gemini', '/v1beta/models/gemini-x:streamGenerateContent', body)).text,
    ) as object[]
    expect(join(parts)).toBe(join([whole]))
    expect(join(array)).toBe(join([whole]))
    expect(parts.at(-1)).toMatchObject({
      candidates: [{ finishReason: 'STOP' }],
      usageMetadata: at(whole, 'usageMetadata'),
    })
    expect(events.every((event) => event.name === '')).toBe(true)
  })

  it('reads both spellings of a member', async () => {
    for (const config of [
      { generationConfig: { maxOutputTokens: 2 } },
      { generation_config: { max_output_tokens: 2 } },
    ]) {
      const answer = await callJson('gemini', '/v1beta/models/m:generateContent', { ...body, ...config })
      expect(at(answer, 'candidates.0.finishReason')).toBe('MAX_TOKENS')
      expect(at(answer, 'usageMetadata.candidatesTokenCount')).toBe(2)
    }
  })

  it('counts and embeds', async () => {
    const counted = await callJson('gemini', '/v1beta/models/m:countTokens', body)
    const whole = await callJson('gemini', '/v1beta/models/m:generateContent', body)
    expect(at(counted, 'totalTokens')).toBe(at(whole, 'usageMetadata.promptTokenCount'))
    const request = { content: body.contents[0], outputDimensionality: 8 }
    const one = await callJson('gemini', '/v1beta/models/m:embedContent', request)
    const many = await callJson('gemini', '/v1beta/models/m:batchEmbedContents', { requests: [request, request] })
    expect(at(one, 'embedding.values')).toHaveLength(8)
    expect(at(many, 'embeddings')).toEqual([at(one, 'embedding'), at(one, 'embedding')])
  })
})

describe('its behaviours', () => {
  it('have models to choose them by', () => {
    expect(demoModels.map((model) => model.name)).toEqual([
      'demo',
      'demo-large',
      'demo-slow',
      'demo-error-429',
      'demo-cut',
    ])
    expect(behaviourOf('constructor')).toBe(behaviourOf('demo'))
  })

  it.each([
    ['openai', '/chat/completions', 'rate_limit_error'],
    ['anthropic', '/v1/messages', 'rate_limit_error'],
    ['gemini', '/v1beta/models/demo-error-429:generateContent', 'RESOURCE_EXHAUSTED'],
  ] as const)('%s: demo-error-429 refuses', async (lane, path, word) => {
    const sink = await call(lane, path, { model: 'demo-error-429' })
    expect(sink.status).toBe(429)
    expect(sink.text).toContain(word)
    const head = { status: 429, headers: new Map([['retry-after', '1']]) }
    expect(demo.classify(head, readErrorBody(Buffer.from(sink.text)), {})).toEqual({
      verdict: 'retry',
      retryAfterMs: 1000,
    })
  })

  it.each([true, false])('demo-cut breaks off after some bytes, streamed: %s', async (stream) => {
    const sink = await call('openai', '/chat/completions', { model: 'demo-cut', stream, messages })
    expect(sink.fault?.kind).toBe('reset')
    expect(sink.text.length).toBeGreaterThan(0)
    expect(sink.text).not.toContain('[DONE]')
    expect(sink.events).not.toContain('end')
  })

  it('demo-large says more', async () => {
    const small = await callJson('openai', '/chat/completions', { model: 'demo', messages })
    const large = await callJson('openai', '/chat/completions', { model: 'demo-large', messages })
    expect(at(large, 'usage.completion_tokens')).toBeGreaterThan(2 * numberAt(small, 'usage.completion_tokens'))
  })

  it.each(['openai', 'anthropic', 'gemini'] as const)('%s: says what is not there or not JSON', async (lane) => {
    expect((await call(lane, '/nowhere', {})).status).toBe(404)
    expect((await call(lane, '/constructor', {})).status).toBe(404)
    const path = { openai: '/chat/completions', anthropic: '/v1/messages', gemini: '/v1/models/m:generateContent' }[
      lane
    ]
    expect((await call(lane, path, '[1')).status).toBe(400)
  })
})

describe('Player', () => {
  const answer = answerStream(['a', 'b', 'c', 'd'])
  const quick = { ...behaviourOf('demo'), firstMs: 0, gapMs: 0 }

  it('says nothing after an abort', async () => {
    const sink = new RecordingSink()
    const player = new Player(answer, quick, sink)
    await sink.seen('data')
    player.abort()
    player.resume()
    const other = new RecordingSink()
    new Player(answer, quick, other)
    await other.seen('over')
    expect(sink.text).toBe('a')
    expect(sink.fault).toBeNull()
  })

  it('waits while it is paused, and goes on where it stopped', async () => {
    const sink = new RecordingSink()
    const player = new Player(answer, quick, sink)
    player.pause()
    await sink.seen('head')
    const other = new RecordingSink()
    new Player(answer, quick, other)
    await other.seen('over')
    expect(sink.text).toBe('')
    player.resume()
    await sink.seen('data')
    player.pause()
    const another = new RecordingSink()
    new Player(answer, quick, another)
    await another.seen('over')
    expect(sink.text).toBe('a')
    player.resume()
    player.resume()
    await sink.seen('over')
    expect(sink.text).toBe('abcd')
    expect(sink.events.filter((event) => event === 'end')).toHaveLength(1)
  })
})
