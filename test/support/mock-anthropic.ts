import { families, findMissingFile } from './anthropic/families.ts'
import { answerRows } from './mock-families.ts'
import {
  cloudflareHeaders,
  isObject,
  type JsonObject,
  type MockAnswer,
  type MockCall,
  type MockFormat,
  type MockUsage,
  parseObject,
  reported,
  spoken,
  spokenText,
  streamAnswer,
  wholeAnswer,
} from './mock-format.ts'
import { Refusal } from './openai/family.ts'

/** A strict Anthropic: messages, count_tokens, models, legacy completions, and what it keeps for its accounts. */
export const mockAnthropic: MockFormat = {
  name: 'anthropic',
  basePath: '',
  foreignHeaders: ['authorization', 'api-key', 'x-goog-api-key'],
  refuse(call, credentials) {
    const given = call.headers.get('x-api-key')
    if (given === undefined) return refusal(call.number, 401, 'authentication_error', 'x-api-key header is required')
    if (!credentials.has(given)) return refusal(call.number, 401, 'authentication_error', 'invalid x-api-key')
    if (!/^\d{4}-\d\d-\d\d$/.test(call.headers.get('anthropic-version') ?? '')) {
      return refusal(call.number, 400, 'invalid_request_error', 'anthropic-version: header is required')
    }
    return null
  },
  answer(call, usage) {
    if (call.method === 'POST' && call.path === '/v1/messages') return serveMessages(call, usage)
    if (call.method === 'POST' && call.path === '/v1/messages/count_tokens') return serveCount(call, usage)
    if (call.method === 'GET' && call.path === '/v1/models') {
      const page = { data: models.map(modelEntry), has_more: false, first_id: models[0], last_id: models.at(-1) }
      return json(call, JSON.stringify(page))
    }
    const model = call.method === 'GET' ? /^\/v1\/models\/(.+)$/.exec(call.path)?.[1] : undefined
    if (model !== undefined) return json(call, JSON.stringify(modelEntry(decodeURIComponent(model))))
    if (call.method === 'POST' && call.path === '/v1/complete') return serveComplete(call)
    return serveKept(call, usage)
  },
  error(status, message, number) {
    return refusal(number, status, errorTypes[status] ?? 'api_error', message)
  },
  streamError(message) {
    const error = { type: 'overloaded_error', message }
    return Buffer.from(named('error', { type: 'error', error, request_id: 'req_anthropic_stream' }))
  },
}

const models = ['claude-opus-5-5', 'claude-haiku-5']

function modelEntry(id: string) {
  return { type: 'model', id, display_name: id, created_at: '2026-02-01T00:00:00Z', max_input_tokens: 200_000 }
}

const errorTypes: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

/** Batches, files and skills, which belong to the account that the credential is of. */
function serveKept(call: MockCall, usage: MockUsage): MockAnswer {
  const credential = call.headers.get('x-api-key') ?? ''
  const file = findMissingFile(call, call.objects.of(credential))
  if (file !== null) return refusal(call.number, 404, 'not_found_error', `File not found: ${file}`)
  const found = answerRows(families, call, credential, usage)
  if (found === null) return refusal(call.number, 404, 'not_found_error', 'Not Found')
  const { given, row } = found
  if (given instanceof Refusal)
    return refusal(call.number, given.status, errorTypes[given.status] ?? 'api_error', given.message)
  if (!Buffer.isBuffer(given)) return json(call, JSON.stringify(given))
  const type = row.call.endsWith('/results') ? 'application/x-jsonl' : 'application/octet-stream'
  return { status: 200, headers: headers(call.number, type), parts: [given], streamed: false, usage: null }
}

function serveComplete(call: MockCall): MockAnswer {
  const body = parseObject(call.body)
  if (
    typeof body?.model !== 'string' ||
    typeof body.prompt !== 'string' ||
    typeof body.max_tokens_to_sample !== 'number'
  )
    return refusal(call.number, 400, 'invalid_request_error', 'model, prompt, max_tokens_to_sample: Field required')
  const piece = (completion: string, stop_reason: string | null) => ({
    type: 'completion',
    id: `compl_${call.number}`,
    completion,
    stop_reason,
    model: body.model,
  })
  if (body.stream !== true) return json(call, JSON.stringify(piece(spokenText, 'stop_sequence')))
  const pieces = [...spoken.map((text) => piece(text, null)), piece('', 'stop_sequence')]
  const events = [named('ping', { type: 'ping' }), ...pieces.map((each) => named('completion', each))]
  return streamAnswer(headers(call.number, 'text/event-stream; charset=utf-8'), events, null)
}

function readBody(call: MockCall): JsonObject | MockAnswer {
  const body = parseObject(call.body)
  const wrong = (message: string) => refusal(call.number, 400, 'invalid_request_error', message)
  if (!call.headers.get('content-type')?.startsWith('application/json'))
    return wrong('content-type: must be application/json')
  if (body === null) return wrong('The request body is not valid JSON')
  if (typeof body.model !== 'string') return wrong('model: Field required')
  if (!Array.isArray(body.messages)) return wrong('messages: Field required')
  if (call.headers.get('anthropic-version') === '2026-10-21' && body.temperature !== undefined) {
    return wrong('temperature: not supported by this version')
  }
  return body
}

function serveMessages(call: MockCall, usage: MockUsage): MockAnswer {
  const body = readBody(call)
  if (isAnswer(body)) return body
  if (call.answerWith !== undefined) return call.answerWith(call, body, usage)
  const file = findMissingFile(call, call.objects.of(call.headers.get('x-api-key') ?? ''))
  if (file !== null) return refusal(call.number, 404, 'not_found_error', `File not found: ${file}`)
  if (typeof body.max_tokens !== 'number') {
    return refusal(call.number, 400, 'invalid_request_error', 'max_tokens: Field required')
  }
  const message = { id: `msg_${call.number}`, type: 'message', role: 'assistant', model: body.model }
  const ran = runCode(call, body)
  if (ran !== null) return serveRun(call, message, ran, body.stream === true, usage)
  const tool = { type: 'tool_use', id: 'toolu_mock', name: 'look', input: { at: 'the sky' } }
  const called = Array.isArray(body.tools)
  const stop = { stop_reason: called ? 'tool_use' : 'end_turn', stop_sequence: null }
  const start = startUsage(usage)
  if (body.stream !== true) {
    const content = called ? [tool] : [{ type: 'text', text: spokenText }]
    const used = { ...start, ...endUsage(usage) }
    return json(call, JSON.stringify({ ...message, content, ...stop, usage: used }), usage)
  }
  const opening = {
    ...message,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...start, output_tokens: 1 },
  }
  const shell = called ? { ...tool, input: {} } : { type: 'text', text: '' }
  const deltas = called
    ? ['', '{"at":', ' "the sky"}'].map((part) => ({ type: 'input_json_delta', partial_json: part }))
    : spoken.map((part) => ({ type: 'text_delta', text: part }))
  const events = [
    named('message_start', { type: 'message_start', message: opening }),
    named('ping', { type: 'ping' }),
    named('content_block_start', { type: 'content_block_start', index: 0, content_block: shell }),
    ...deltas.map((delta) => named('content_block_delta', { type: 'content_block_delta', index: 0, delta })),
    named('content_block_stop', { type: 'content_block_stop', index: 0 }),
    named('message_delta', { type: 'message_delta', delta: stop, usage: endUsage(usage) }),
    named('message_stop', { type: 'message_stop' }),
  ]
  return streamAnswer(headers(call.number, 'text/event-stream; charset=utf-8'), events, reported(usage))
}

/** What the provider's own tool leaves: a file, and the container that it is in. Null where the body has no such tool. */
function runCode(call: MockCall, { tools }: JsonObject): { block: JsonObject; container: JsonObject } | null {
  const asked = (tool: unknown) => isObject(tool) && String(tool.type).startsWith('code_execution_')
  if (!Array.isArray(tools) || !tools.some(asked)) return null
  const account = call.objects.of(call.headers.get('x-api-key') ?? '')
  const id = call.objects.nextId('file_')
  account.keep('file', { id, type: 'file', filename: 'plot.png', downloadable: true }, Buffer.from('plot'))
  const content = { type: 'bash_code_execution_result', content: [{ type: 'bash_code_execution_output', file_id: id }] }
  return {
    block: { type: 'bash_code_execution_tool_result', tool_use_id: 'srvtoolu_mock', content },
    container: { id: call.objects.nextId('container_'), expires_at: '2026-12-01T00:00:00Z', skills: null },
  }
}

function serveRun(
  call: MockCall,
  message: JsonObject,
  { block, container }: { block: JsonObject; container: JsonObject },
  streamed: boolean,
  usage: MockUsage,
): MockAnswer {
  const stop = { stop_reason: 'end_turn', stop_sequence: null, container }
  const start = startUsage(usage)
  if (!streamed)
    return json(
      call,
      JSON.stringify({ ...message, content: [block], ...stop, usage: { ...start, ...endUsage(usage) } }),
      usage,
    )
  const events = [
    named('message_start', { type: 'message_start', message: { ...message, content: [], usage: start } }),
    named('content_block_start', { type: 'content_block_start', index: 0, content_block: block }),
    named('content_block_stop', { type: 'content_block_stop', index: 0 }),
    named('message_delta', { type: 'message_delta', delta: stop, usage: endUsage(usage) }),
    named('message_stop', { type: 'message_stop' }),
  ]
  return streamAnswer(headers(call.number, 'text/event-stream; charset=utf-8'), events, reported(usage))
}

function serveCount(call: MockCall, usage: MockUsage): MockAnswer {
  const body = readBody(call)
  return isAnswer(body) ? body : json(call, JSON.stringify({ input_tokens: usage.input }))
}

function isAnswer(value: JsonObject | MockAnswer): value is MockAnswer {
  return Array.isArray(value.parts)
}

/** Anthropic counts cached tokens beside `input_tokens`, not in it. */
function startUsage(usage: MockUsage): JsonObject {
  return {
    input_tokens: usage.input - usage.cacheRead - usage.cacheWrite,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    service_tier: 'standard',
  }
}

function endUsage(usage: MockUsage): JsonObject {
  return { output_tokens: usage.output, output_tokens_details: { thinking_tokens: usage.reasoning } }
}

function named(name: string, data: JsonObject): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}

function json(call: MockCall, text: string, usage: MockUsage | null = null): MockAnswer {
  return wholeAnswer(200, headers(call.number), text, usage && reported(usage))
}

function refusal(number: number, status: number, type: string, message: string): MockAnswer {
  const body = { type: 'error', error: { type, message }, request_id: `req_anthropic_${number}` }
  return wholeAnswer(status, headers(number), JSON.stringify(body))
}

function headers(number: number, contentType = 'application/json'): [string, string][] {
  return [
    ['Content-Type', contentType],
    ['request-id', `req_anthropic_${number}`],
    ['anthropic-organization-id', '0f0f0f0f-mock-canary-0000-000000000000'],
    ['anthropic-workspace-id', 'wrkspc_mockcanary'],
    ['anthropic-ratelimit-requests-limit', '4000'],
    ['anthropic-ratelimit-requests-remaining', '3999'],
    ...cloudflareHeaders,
    ['x-envoy-upstream-service-time', '42'],
  ]
}
