import { describe, expect, it } from 'vitest'
import type { SentEvent } from '../../src/admin/contract/requests/send.ts'
import type { SentPiece } from '../../src/admin/handlers/context.ts'
import { answerEvents } from '../../src/admin/handlers/requests/send-request.ts'

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
