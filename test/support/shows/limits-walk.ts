import type http from 'node:http'
import type { Endpoint, Lane } from '../../../src/lanes/contract.ts'
import { lanes } from '../../../src/lanes/index.ts'
import { type RawAnswer, send } from '../raw-http.ts'

/** Every row of docs/lanes.md: what a provider answers, refuses or cuts there, and how it is called. */

export type Fate = 'answered' | 'refused' | 'cut'
export const fates: readonly Fate[] = ['answered', 'refused', 'cut']

/** One call of the walk: what the provider does with it, and whether it is asked for a stream. */
export interface WalkStep {
  fate: Fate
  row: Endpoint
  streamed: boolean
}

/** What each vendor's answers hold, in one: each reader finds its own. */
export const usage = {
  ...{ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, input_tokens: 10, output_tokens: 5 },
  ...{ total_input_tokens: 10, total_output_tokens: 5 },
}
export const usageMetadata = {
  promptTokenCount: 10,
  candidatesTokenCount: 5,
  totalTokenCount: 15,
  responseTokenCount: 5,
}
const answer = {
  ...{ id: 'made_1', name: 'batches/made_1', object: 'walk', type: 'message', role: 'assistant', model: 'walk-model' },
  choices: [{ index: 0, text: 'x', message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
  content: [{ type: 'text', text: 'x' }],
  candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason: 'STOP' }],
  ...{ stop_reason: 'end_turn', completion: 'x', output: [], data: [], results: [], embedding: { values: [1] } },
  ...{ status: 'completed', value: 'ek_1', expires_at: 4_000_000_000, input_tokens: 10, totalTokens: 10 },
  ...{ usage, usageMetadata },
}

/** What each lane's streams hold, in one: events of another operation pass as they come. */
const streams: Readonly<Record<string, readonly object[]>> = {
  openai: [
    { object: 'walk', choices: [{ index: 0, text: 'x', delta: { content: 'x' }, finish_reason: 'stop' }] },
    { type: 'response.output_text.delta', delta: 'x' },
    { type: 'image_generation.completed', b64_json: 'eA==', usage },
    { type: 'speech.audio.done', usage },
    { type: 'transcript.text.done', text: 'x', usage },
    { type: 'response.completed', response: { id: 'resp_1', status: 'completed', usage } },
    { object: 'walk', choices: [], usage },
  ],
  anthropic: [
    { type: 'message_start', message: { id: 'msg_1', type: 'message', model: 'walk-model', content: [], usage } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
    { type: 'completion', completion: 'x', stop_reason: 'stop_sequence' },
    { type: 'message_stop' },
  ],
  gemini: [
    { candidates: answer.candidates, usageMetadata },
    { event_type: 'interaction.completed', interaction: { id: 'int_1', usage } },
  ],
}

function replyStreamed(response: http.ServerResponse, fate: Fate, lane: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const events = (streams[lane] ?? []).map((event) => {
    const name = 'type' in event ? `event: ${event.type}\n` : ''
    return `${name}data: ${JSON.stringify(event)}\n\n`
  })
  if (fate === 'cut') response.write(events[0], () => response.socket?.destroy())
  else response.end(`${events.join('')}${lane === 'openai' ? 'data: [DONE]\n\n' : ''}`)
}

export function replyTo(response: http.ServerResponse, { fate, row, streamed }: WalkStep): void {
  if (fate === 'refused') {
    const error = { message: 'no', type: 'invalid_request_error', code: 400, status: 'INVALID_ARGUMENT' }
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ type: 'error', error }))
    return
  }
  if (streamed) return replyStreamed(response, fate, lanes.find(({ endpoints }) => endpoints.includes(row))?.name ?? '')
  const { responseForm } = row
  const body = responseForm === 'bytes' ? 'bytes' : responseForm === 'nothing' ? '' : JSON.stringify(answer)
  const type = responseForm === 'bytes' ? 'application/octet-stream' : 'application/json'
  const head = { 'content-type': type, 'content-length': String(Buffer.byteLength(body)) }
  if (fate === 'answered') return void response.writeHead(200, head).end(body)
  response.writeHead(200, { ...head, 'content-length': '1000' })
  response.write(body.slice(0, 20), () => response.socket?.destroy())
}

/** Where a call goes, and with which key. */
export interface WalkedGateway {
  baseUrl: string
  key: string
}

export function callRow(
  { baseUrl, key }: WalkedGateway,
  lane: Lane,
  { row: endpoint, streamed }: Omit<WalkStep, 'fate'>,
): Promise<RawAnswer> {
  const path = endpoint.path
    .replace('{version}', 'v1beta')
    .replace('{model}', lane.name === 'gemini' ? `models/${lane.name}-model` : `${lane.name}-model`)
    .replaceAll(/\{\w+\}/g, 'obj_1')
  const headers: [string, string][] = [['authorization', `Bearer ${key}`]]
  const alt = streamed && lane.name === 'gemini' ? '?alt=sse' : ''
  const query = endpoint.model === 'query' ? `?model=${lane.name}-model` : alt
  const url = baseUrl + lane.prefix + path + query
  const [form] = endpoint.requestForms
  if (form === undefined) return send(url, { method: endpoint.method, headers })
  if (form === 'multipart') {
    const session = JSON.stringify({ type: 'realtime', model: `${lane.name}-model` })
    const fields: [string, string][] =
      endpoint.path === '/realtime/calls'
        ? [
            ['sdp', 'v=0'],
            ['session', session],
          ]
        : [
            ['model', `${lane.name}-model`],
            ['purpose', 'user_data'],
            ['prompt', 'x'],
            ...(streamed ? [['stream', 'true'] as [string, string]] : []),
          ]
    const parts = fields.map(
      ([name, value]) => `--walk\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    )
    const isCall = endpoint.path === '/realtime/calls'
    const file = isCall
      ? ''
      : '--walk\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\ncontent-type: text/plain\r\n\r\nabc\r\n'
    const body = `${parts.join('')}${file}--walk--\r\n`
    return send(url, {
      method: endpoint.method,
      headers: [...headers, ['content-type', 'multipart/form-data; boundary=walk']],
      body,
    })
  }
  const model = `${lane.name}-model`
  const named = endpoint.model === 'body' || endpoint.model === 'body-optional' ? { model } : {}
  const asked = { ...named, ...bodyOf(endpoint, model, streamed) }
  return send(url, {
    method: endpoint.method,
    headers: [...headers, ['content-type', 'application/json']],
    body: JSON.stringify(asked),
  })
}

function bodyOf({ operation, outputLimits }: Endpoint, model: string, streamed: boolean): object {
  if (operation === 'batches.create')
    return { endpoint: '/v1/chat/completions', requests: [{ custom_id: '1', params: { model, max_tokens: 10 } }] }
  const limited = outputLimits?.within == null ? { max_tokens: 20 } : {}
  const stream = streamed ? { stream: true } : {}
  return {
    ...(outputLimits === undefined ? {} : limited),
    ...stream,
    input: 'x',
    messages: [{ role: 'user', content: 'hi' }],
  }
}

/** The calls of a lane's rows; where the client's body decides, or on Gemini the path, streamed too. */
export function walkedCalls({ endpoints }: Lane): { name: string; endpoint: Endpoint; stream: boolean }[] {
  const served = endpoints.filter(({ served, method }) => served !== 'nobody' && method !== 'SOCKET')
  const whole = served.map((endpoint) => ({ name: `${endpoint.method} ${endpoint.path}`, endpoint, stream: false }))
  const variants = whole
    .filter(({ endpoint }) => endpoint.stream !== null && endpoint.method === 'POST')
    .map((each) => ({ ...each, name: `${each.name} (streamed)`, stream: true }))
  return [...whole, ...variants]
}

const rates = { input: 1, output: 2, per_character: 0.001, per_second: 0.01, per_search: 0.01, max_output: 1000 }
/** Prices in every unit, for all models of the walk. */
export const walkPrices = [...lanes.map(({ name }) => `${name}-model`), 'walk-model'].map((model) => ({
  ...{ model, ...rates, per_image: { '*': 0.01 } },
}))

/** A policy with every limit, none of which is reached. */
export const walkLimits = {
  ...{ rpm: 100_000, tpm: 1_000_000_000, concurrency: 100 },
  ...{ budgetUsdDay: 1000, budgetUsdMonth: 1000, budgetTokensDay: 1e9, budgetTokensMonth: 1e9 },
  ...{ maxOutputTokens: 1000, capOutput: true },
}
