import { describe, expect, it } from 'vitest'
import type { SentEvent } from '../../src/admin/contract/requests/send.ts'
import type { SentPiece } from '../../src/admin/handlers/context.ts'
import { answerEvents } from '../../src/admin/handlers/requests/send-request.ts'
import { refusal, startTestGateway } from './gateway.ts'

const call = { path: '/v1/chat/completions', body: '{"model":"m"}' }
const head = (type: string): SentPiece => ({
  ...{ kind: 'head', status: 200, headers: { 'content-type': type, 'x-sp-request-id': 'req_1' } },
})
const data = (text: string): SentPiece => ({ kind: 'data', bytes: Buffer.from(text) })
const chunk = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`

async function eventsOf(...pieces: (SentPiece | Error)[]) {
  async function* sent() {
    for (const piece of pieces) {
      if (piece instanceof Error) throw piece
      yield piece
    }
  }
  const events: SentEvent[] = []
  for await (const event of answerEvents('openai', call, sent())) events.push(event)
  return events
}

describe('the answer to a request that an operator sends', () => {
  it('is told event by event where it is a stream, whichever pieces it comes in', async () => {
    const text = `${chunk('Hel')}${chunk('lo')}data: [DONE]\n\n`
    const events = await eventsOf(
      head('text/event-stream; charset=utf-8'),
      data(text.slice(0, 20)),
      data(text.slice(20)),
    )
    expect(events.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      ...['begin null', 'part Hel', 'part lo', 'part ', 'end null'],
    ])
    expect(events.map((event) => (event.kind === 'part' ? event.raw : '')).join('')).toBe(text)
    expect(events[0]).toMatchObject({ request_id: 'req_1', lane: 'openai', status: 200, request_body: call.body })
    expect(events.at(-1)).toMatchObject({ error: null, first_text_ms: expect.any(Number) })
  })

  it('is told at once where it is whole', async () => {
    const body = JSON.stringify({ choices: [{ message: { content: 'Hello' } }] })
    const events = await eventsOf(head('application/json'), data(body.slice(0, 9)), data(body.slice(9)))
    expect(events.map(({ kind, text }) => `${kind} ${text}`)).toEqual(['begin null', 'part Hello', 'end null'])
  })

  it('is told as far as it came, and why it ended', async () => {
    const events = await eventsOf(head('text/event-stream'), data(chunk('Hel')), new Error('the gateway has gone'))
    expect(events.map(({ kind, text }) => `${kind} ${text}`)).toEqual(['begin null', 'part Hel', 'end null'])
    expect(events.at(-1)).toMatchObject({ error: 'the gateway has gone' })
    expect(await eventsOf(new Error('refused'))).toMatchObject([{ kind: 'end', error: 'refused', first_text_ms: null }])
  })

  it('has no first text where it holds none, nor an id where nothing gave it one', async () => {
    const events = await eventsOf({ kind: 'head', status: 502, headers: {} }, data('{"error":{}}'))
    expect(events[0]).toMatchObject({ kind: 'begin', status: 502, request_id: '' })
    expect(events.at(-1)).toMatchObject({ kind: 'end', first_text_ms: null })
    expect(await eventsOf(head('application/json'))).toMatchObject([{ kind: 'begin' }, { kind: 'end' }])
  })
})

describe('a request that an operator sends', () => {
  it('is what was given, with a key or without, and no prompt of it is in the audit', async () => {
    const { client, parts } = await startTestGateway()
    await client.providers.add({ name: 'openai', kind: 'openai', credential: 'sk-openai-credential' })
    await client.keys.create({ name: 'ci' })
    const asked: { path: string; body: string; key: string }[] = []
    parts.runtime.send = async function* ({ key, path, body }) {
      asked.push({ key: key.name, path, body })
      yield* [head('application/json'), data('{}')]
    }
    const send = async (input: Omit<Parameters<typeof client.requests.send>[0], 'model'>) => {
      const kinds: string[] = []
      for await (const { kind } of await client.requests.send({ model: 'gpt', ...input })) kinds.push(kind)
      return kinds
    }
    expect(await send({ message: 'a private word', system: 'Be brief.', maxTokens: 7 })).toEqual([
      'begin',
      'part',
      'end',
    ])
    await send({ body: '{"model":"gpt","messages":["a private word"]}', key: 'ci' })
    expect(asked.map(({ key, path }) => `${key} ${path}`)).toEqual([
      'requests-send /v1/chat/completions',
      'ci /v1/chat/completions',
    ])
    expect(JSON.parse(asked[0]?.body ?? '')).toMatchObject({
      model: 'gpt',
      stream: true,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'a private word' },
      ],
    })
    expect(asked[1]?.body).toBe('{"model":"gpt","messages":["a private word"]}')
    await send({ message: 'x', whole: true })
    expect(JSON.parse(asked[2]?.body ?? '').stream ?? false).toBe(false)
    const lines = await client.audit.list({ operation: 'requests.send' })
    expect(lines.map(({ after }) => after)).toMatchObject([{ key: null }, { key: 'ci' }, { key: null, model: 'gpt' }])
    expect(JSON.stringify(lines)).not.toContain('private')
    expect((await refusal(send({}))).message).toBe('There is no message to send.')
    expect((await refusal(send({ body: '{"model":' }))).message).toMatch(/^The body is not JSON: /)
    expect(asked).toHaveLength(3)
  })
})
