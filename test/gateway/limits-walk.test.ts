import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BookedAmount } from '../../src/core/journal-format.ts'
import { fillPrice } from '../../src/core/model-price.ts'
import type { Limit, LimitKind } from '../../src/core/policy-limits.ts'
import type { Endpoint, Lane } from '../../src/lanes/contract.ts'
import { lanes } from '../../src/lanes/index.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { type RawAnswer, send } from '../support/raw-http.ts'
import { makePolicy } from '../support/snapshot.ts'
import { dial, Refused, type SocketProvider, startSocketProvider } from '../support/sockets.ts'

/** Every row of docs/lanes.md once answered, once refused and once cut by its provider, under a policy with every limit. */

type Fate = 'answered' | 'refused' | 'cut'
const fates: readonly Fate[] = ['answered', 'refused', 'cut']
const credentials = { openai: 'sk-walk', anthropic: 'sk-ant-walk', gemini: 'AIza-walk' }

let http1: http.Server
let sockets: SocketProvider
let plane: DataPlane
/** What the provider does with the next call. */
let fate: Fate = 'answered'
let row: Endpoint
/** Whether it is asked for a stream. */
let streamed = false

/** What each vendor's answers hold, in one: each reader finds its own. */
const usage = {
  ...{ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, input_tokens: 10, output_tokens: 5 },
  ...{ total_input_tokens: 10, total_output_tokens: 5 },
}
const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15, responseTokenCount: 5 }
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

function replyStreamed(response: http.ServerResponse, lane: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const events = (streams[lane] ?? []).map((event) => {
    const name = 'type' in event ? `event: ${event.type}\n` : ''
    return `${name}data: ${JSON.stringify(event)}\n\n`
  })
  if (fate === 'cut') response.write(events[0], () => response.socket?.destroy())
  else response.end(`${events.join('')}${lane === 'openai' ? 'data: [DONE]\n\n' : ''}`)
}

function reply(response: http.ServerResponse): void {
  if (fate === 'refused') {
    const error = { message: 'no', type: 'invalid_request_error', code: 400, status: 'INVALID_ARGUMENT' }
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ type: 'error', error }))
    return
  }
  if (streamed) return replyStreamed(response, lanes.find(({ endpoints }) => endpoints.includes(row))?.name ?? '')
  const { responseForm } = row
  const body = responseForm === 'bytes' ? 'bytes' : responseForm === 'nothing' ? '' : JSON.stringify(answer)
  const type = responseForm === 'bytes' ? 'application/octet-stream' : 'application/json'
  const head = { 'content-type': type, 'content-length': String(Buffer.byteLength(body)) }
  if (fate === 'answered') return void response.writeHead(200, head).end(body)
  response.writeHead(200, { ...head, 'content-length': '1000' })
  response.write(body.slice(0, 20), () => response.socket?.destroy())
}

beforeAll(async () => {
  http1 = http.createServer((request, response) => {
    request.resume().on('end', () => reply(response))
  })
  await once(http1.listen(0, '127.0.0.1'), 'listening')
  sockets = await startSocketProvider()
  http1.on('upgrade', sockets.take)
  const { port } = http1.address() as AddressInfo
  const baseUrl = `http://127.0.0.1:${port}`
  plane = await startDataPlane({
    providers: lanes.map(({ name }) => {
      const path = name === 'openai' ? '/v1' : ''
      return { kind: name, baseUrl: baseUrl + path, credentials: [credentials[name]] }
    }),
    policies: [
      makePolicy('all', {
        ...{ rpm: 100_000, tpm: 1_000_000_000, concurrency: 100 },
        ...{ budgetUsdDay: 1000, budgetUsdMonth: 1000, budgetTokensDay: 1e9, budgetTokensMonth: 1e9 },
        ...{ maxOutputTokens: 1000, capOutput: true, maxBody: 1_000_000 },
      }),
    ],
    defaults: true,
    webrtc: true,
  })
  const rates = { input: 1, output: 2, per_character: 0.001, per_second: 0.01, per_search: 0.01, max_output: 1000 }
  const names = [...lanes.map(({ name }) => `${name}-model`), 'walk-model']
  const prices = names.map((model) =>
    fillPrice({ model, source: 'set', version: 'walk', ...rates, per_image: { '*': 0.01 } }),
  )
  plane.tell({ type: 'prices', prices: { revision: 1, prices } })
  await plane.hear('has')
})

afterAll(async () => {
  await plane.stop()
  await sockets.stop()
  http1.closeAllConnections()
  http1.close()
})

const limit = (kind: LimitKind, period: Limit['period']): Limit => ({
  counter: `pol_all workspace ${kind} ${period ?? 'minute'}`,
  ...{ policy: 'all', scope: 'workspace', kind, period, limit: 0, warns: false, perUser: false },
})

/** A batch goes on holding what it may come to. */
let batches: readonly BookedAmount[] = []

/** What nobody holds any more, of all that is held until a request's end. */
async function expectNothingHeld(made: readonly BookedAmount[] = batches): Promise<void> {
  await expect.poll(() => plane.inFlight()).toBe(0)
  expect(plane.limits.used(limit('concurrency', null))).toBe(0)
  for (const kind of ['usd', 'tokens'] as const)
    for (const period of ['day', 'month'] as const) {
      const use = plane.limits.budgetUse(limit(kind, period), { timeZone: 'UTC', now: Date.now() })
      const own = made.filter(([counter]) => counter === limit(kind, period).counter)
      expect({ kind, period, held: use.held, holders: use.holders }).toEqual({
        ...{ kind, period, held: own.reduce((sum, [, , amount]) => sum + amount, 0), holders: own.length },
      })
    }
}

function callOf(lane: Lane, endpoint: Endpoint): Promise<RawAnswer> {
  const path = endpoint.path
    .replace('{version}', 'v1beta')
    .replace('{model}', lane.name === 'gemini' ? `models/${lane.name}-model` : `${lane.name}-model`)
    .replaceAll(/\{\w+\}/g, 'obj_1')
  const headers: [string, string][] = [['authorization', `Bearer ${plane.key}`]]
  const alt = streamed && lane.name === 'gemini' ? '?alt=sse' : ''
  const query = endpoint.model === 'query' ? `?model=${lane.name}-model` : alt
  const url = plane.baseUrl + lane.prefix + path + query
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
  const asked = { ...named, ...bodyOf(endpoint, model) }
  return send(url, {
    method: endpoint.method,
    headers: [...headers, ['content-type', 'application/json']],
    body: JSON.stringify(asked),
  })
}

function bodyOf({ operation, outputLimits }: Endpoint, model: string): object {
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

for (const lane of lanes) {
  const served = lane.endpoints.filter(({ served, method }) => served !== 'nobody' && method !== 'SOCKET')
  describe(`a call of the ${lane.name} lane`, () => {
    beforeAll(() => plane.ownAll(lane.name))

    const whole = served.map((endpoint) => ({ name: `${endpoint.method} ${endpoint.path}`, endpoint, stream: false }))
    // Where the client's body decides, or on Gemini the path.
    const variants = whole
      .filter(({ endpoint }) => endpoint.stream !== null && endpoint.method === 'POST')
      .map((each) => ({ ...each, name: `${each.name} (streamed)`, stream: true }))
    it.each([...whole, ...variants])(
      'litellm PR 36592, litellm 38176, litellm 31087, litellm PR 40010: $name holds nothing afterwards, and costs or says that it has no price',
      async ({ endpoint, stream }) => {
        row = endpoint
        streamed = stream
        for (const next of fates) {
          fate = next
          plane.heal(lanes.indexOf(lane))
          const { requestId, status } = await callOf(lane, endpoint).catch(() => ({ requestId: null, status: 0 }))
          const record = requestId === null ? null : await plane.record(requestId)
          if (endpoint.operation === 'batches.create')
            batches = plane.entries().flatMap((entry) => (entry.kind === 'batch-held' ? entry.hold : []))
          await expectNothingHeld()
          if (fate !== 'answered') continue
          expect(status, JSON.stringify(record?.error)).toBeLessThan(300)
          if (!endpoint.billed) continue
          const unpriced = record?.policy_signals.some(({ rule }) => rule === 'unpriced')
          expect([record?.cost?.usd ?? 0, unpriced]).not.toEqual([0, false])
        }
      },
    )
  })
}

const socketRows = lanes.flatMap((lane) =>
  lane.endpoints.flatMap((endpoint) =>
    endpoint.method === 'SOCKET' && endpoint.served === 'provider'
      ? [{ name: `${lane.name} ${endpoint.path}`, lane, endpoint }]
      : [],
  ),
)

describe('a WebSocket', () => {
  it.each(socketRows)(
    'litellm PR 39851, litellm PR 38419: $name holds nothing afterwards, and costs what its turns used',
    async ({ lane, endpoint }) => {
      plane.ownAll(lane.name)
      const model = `${lane.name}-model`
      const path = endpoint.path.replace('{version}', 'v1beta').replaceAll(/\{\w+\}/g, 'obj_1')
      const query = endpoint.model === 'query' ? `?model=${model}` : ''
      const url = plane.baseUrl + lane.prefix + path + query
      const options = { headers: { authorization: `Bearer ${plane.key}` } }
      const opening =
        lane.name === 'gemini'
          ? { setup: { model: `models/${model}` } }
          : endpoint.operation.startsWith('responses')
            ? { type: 'response.create', model, input: 'x' }
            : { type: 'session.update', session: { model } }
      for (const next of fates) {
        sockets.refuse(next === 'refused' ? () => ({ status: 403, headers: {}, body: '{}' }) : null)
        const client = await dial(url, options).catch((reason: unknown) => reason)
        if (client instanceof Refused) {
          await expectNothingHeld()
          continue
        }
        if (client instanceof Error) throw client
        const end = client as Awaited<ReturnType<typeof dial>>
        end.send(opening)
        if (next === 'refused') await once(end.socket, 'close')
        else {
          const { end: far } = await sockets.accepted()
          if (endpoint.model !== 'query' || lane.name !== 'openai') await far.next()
          if (next === 'answered') {
            const ended =
              lane.name === 'gemini'
                ? [{ serverContent: { modelTurn: {} } }, { serverContent: { turnComplete: true }, usageMetadata }]
                : [
                    { type: 'response.created', response: { id: 'resp_1' } },
                    {
                      type: endpoint.operation === 'realtime' ? 'response.done' : 'response.completed',
                      response: { id: 'resp_1', usage },
                    },
                  ]
            for (const frame of ended) far.send(frame)
            for (const _frame of ended) await end.next()
            end.socket.close(1000)
          } else far.socket.terminate()
          await once(end.socket, 'close')
        }
        const record = await plane.record(end.requestId)
        await expectNothingHeld()
        if (next === 'answered') expect(record.cost?.usd ?? 0).toBeGreaterThan(0)
      }
      sockets.refuse(null)
    },
  )
})
