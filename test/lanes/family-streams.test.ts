import { describe, expect, it } from 'vitest'
import { anthropic } from '../../src/lanes/anthropic/lane.ts'
import type { AnswerReader, EventReading, Lane, Match } from '../../src/lanes/contract.ts'
import { openFramer } from '../../src/lanes/framer.ts'
import { gemini } from '../../src/lanes/gemini/lane.ts'
import { isFault } from '../../src/lanes/request-body.ts'

function open(lane: Lane, call: string, body: object | null, query = ''): { reader: AnswerReader; match: Match } {
  const [method = '', path = ''] = call.split(' ')
  const match = lane.match(method, path)
  if (match === null) throw new Error(call)
  const bytes = body === null ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body))
  const found = match.endpoint.inspect(match, query, bytes)
  if (isFault(found)) throw new Error(found.message)
  return { match, reader: match.endpoint.reader(found, { renameTo: null, askForUsage: false }) }
}

/** What the reader makes of each event of a stream. */
function read(reader: AnswerReader, text: string): EventReading[] {
  const framer = openFramer('sse')
  const readings = framer.push(Buffer.from(text)).map((event) => reader.event(event))
  const rest = framer.rest()
  return rest === null ? readings : [...readings, reader.event(rest)]
}

const kinds = (readings: readonly EventReading[]) =>
  readings.map(({ content, terminal, error }) => (error ? 'error' : terminal ? 'end' : content ? 'content' : '-'))

describe('interactions', () => {
  const sse = (...events: object[]) =>
    events.map((data) => `event: x\ndata: ${JSON.stringify({ ...data, event_id: 'e' })}\n\n`).join('')
  const created = { event_type: 'interaction.created', interaction: { id: 'i1', model: 'g' } }
  const delta = { event_type: 'step.delta', index: 0, delta: { type: 'text', text: 'interaction.completed' } }
  const usage = { total_input_tokens: 10, total_cached_tokens: 4, total_output_tokens: 5, total_thought_tokens: 2 }
  const completed = { event_type: 'interaction.completed', interaction: { id: 'i1', usage } }
  const create = () => open(gemini, 'POST /v1/interactions', { model: 'g', input: 'x', stream: true })
  const tokens = { input: 10, output: 7, cache_read: 4, cache_write: 0, reasoning: 2, source: 'reported' }

  it('have their content, their end, and what they took', () => {
    const { reader } = create()
    const readings = read(reader, `${sse(created, { event_type: 'step.start' }, delta, completed)}data: [DONE]\n\n`)
    expect(kinds(readings)).toEqual(['-', 'content', 'content', 'end', 'end'])
    expect(readings.every(({ pass }) => pass !== null)).toBe(true)
    expect(reader.end()).toBeNull()
    expect(reader.seen()).toMatchObject({ model: 'g', responseId: 'i1' })
    expect(reader.usage()).toEqual(tokens)
  })

  it('are not over before they are', () => {
    const { reader } = create()
    read(reader, sse(created, delta))
    expect(reader.end()).toMatch(/without interaction.completed/)
  })

  it('end in an error of their own form', () => {
    const { reader, match } = create()
    const failed = { event_type: 'error', error: { code: 'resource_exhausted', message: 'slow down' } }
    const readings = read(reader, sse(created, failed))
    expect(kinds(readings)).toEqual(['-', 'error'])
    expect(readings[1]?.error).toMatchObject({ status: 429, message: 'slow down' })
    expect(reader.end()).toBeNull()
    const fault = { code: 'provider_timeout', message: 'too slow' } as const
    expect(gemini.streamError(match, fault, 'req_1', reader).toString()).toBe(
      'data: {"event_type":"error","error":{"code":"provider_timeout","message":"too slow"}}\n\n',
    )
  })

  it('tell of the sandbox that they have made', () => {
    const { reader } = open(gemini, 'POST /v1/interactions', { agent: 'a', input: 'x' })
    reader.body(Buffer.from(JSON.stringify({ id: 'i1', environment_id: 'env_1', usage })))
    expect(reader.seen().objects).toEqual([{ type: 'environment', id: 'env_1' }])
    expect(reader.usage()).toEqual(tokens)
  })

  it('count once, when they are made', () => {
    const { reader } = open(gemini, 'GET /v1/interactions/i1', null, '?stream=true&last_event_id=e')
    expect(kinds(read(reader, sse(delta, completed)))).toEqual(['content', 'end'])
    expect(reader.usage()).toBeNull()
  })
})

describe('legacy completions', () => {
  const sse = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`
  const create = () =>
    open(anthropic, 'POST /v1/complete', { model: 'm', prompt: 'x', max_tokens_to_sample: 9, stream: true }).reader

  it('are over with a reason to stop', () => {
    const reader = create()
    const text = `${sse('ping', {})}${sse('completion', { id: 'c1', completion: 'hi', stop_reason: null, model: 'm' })}`
    expect(kinds(read(reader, text))).toEqual(['-', 'content'])
    expect(reader.end()).toMatch(/without a stop_reason/)
    expect(kinds(read(reader, sse('completion', { completion: '', stop_reason: 'stop_sequence' })))).toEqual(['end'])
    expect(reader.end()).toBeNull()
    expect(reader.seen()).toMatchObject({ model: 'm', responseId: 'c1' })
    expect(reader.usage()).toBeNull()
  })

  it('end in an error', () => {
    const reader = create()
    const failed = sse('error', { error: { type: 'overloaded_error', message: 'later' } })
    expect(read(reader, failed)[0]).toMatchObject({ terminal: true, error: { status: 529, message: 'later' } })
  })
})
