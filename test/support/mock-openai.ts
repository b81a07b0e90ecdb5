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
import type { MockObject } from './mock-objects.ts'
import type { Refusal } from './openai/family.ts'
import { findMissing, keepResponse } from './openai/responses.ts'
import { credentialOf, serveFamily } from './openai/serve.ts'

const created = 1_790_000_000

/** A strict OpenAI: what answers from a model stands here, what is kept and worked with in `openai/`. */
export const mockOpenai: MockFormat = {
  name: 'openai',
  basePath: '/v1',
  foreignHeaders: ['x-api-key', 'api-key', 'x-goog-api-key', 'anthropic-version'],
  refuse(call, credentials) {
    const given = /^Bearer (.+)$/.exec(call.headers.get('authorization') ?? '')?.[1]
    if (given === undefined) return refusal(call, 401, "You didn't provide an API key.", 'invalid_request_error', null)
    if (credentials.has(given)) return null
    return refusal(call, 401, 'Incorrect API key provided.', 'invalid_request_error', 'invalid_api_key')
  },
  answer(call, usage) {
    const serve = call.method === 'POST' ? posts[call.path] : undefined
    if (serve) return servePost(call, usage, serve)
    if (call.method === 'GET' && call.path === '/v1/models') {
      return json(call, JSON.stringify({ object: 'list', data: models.map(modelEntry) }))
    }
    const model = call.method === 'GET' ? /^\/v1\/models\/(.+)$/.exec(call.path)?.[1] : undefined
    if (model !== undefined) return json(call, JSON.stringify(modelEntry(decodeURIComponent(model))))
    const family = serveFamily(call, usage, (contentType) => headers(call.number, contentType))
    if (family !== null) return family
    return refusal(call, 404, `Invalid URL (${call.method} ${call.path})`, 'invalid_request_error', null)
  },
  error(status, message, number) {
    const type = status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error'
    return wholeAnswer(status, headers(number), JSON.stringify({ error: { message, type, param: null, code: null } }))
  },
  streamError(message, sent = []) {
    // Responses have an event of their own, numbered like all others (wire/streaming.md, section 2).
    if (sent[0]?.includes('event: response.') === true) {
      const error = { type: 'error', code: 'server_error', message, param: null, sequence_number: sent.length }
      return Buffer.from(`event: error\ndata: ${JSON.stringify(error)}\n\n`)
    }
    return Buffer.from(
      `data: ${JSON.stringify({ error: { message, type: 'server_error', param: null, code: null } })}\n\n`,
    )
  },
}

const models = ['gpt-4o-mini', 'gpt-4o', 'text-embedding-3-small', 'omni-moderation-latest']

function modelEntry(id: string) {
  return { id, object: 'model', created, owned_by: 'system' }
}

type Serve = (call: MockCall, body: JsonObject, usage: MockUsage) => MockAnswer

const posts: Record<string, Serve> = {
  '/v1/chat/completions': serveChat,
  '/v1/completions': serveCompletions,
  '/v1/responses': serveResponses,
  '/v1/embeddings': serveEmbeddings,
  '/v1/moderations': serveModerations,
}

function servePost(call: MockCall, usage: MockUsage, serve: Serve): MockAnswer {
  if (!call.headers.get('content-type')?.startsWith('application/json')) {
    return refusal(call, 400, 'Unsupported content type.', 'invalid_request_error', 'unsupported_content_type')
  }
  const body = parseObject(call.body)
  if (body === null)
    return refusal(call, 400, 'We could not parse the JSON body.', 'invalid_request_error', 'invalid_json')
  if (typeof body.model !== 'string' && call.path !== '/v1/moderations') {
    return refusal(call, 400, 'you must provide a model parameter', 'invalid_request_error', null)
  }
  if (body.stream_options != null && body.stream !== true) {
    return refusal(
      call,
      400,
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      'invalid_request_error',
      null,
    )
  }
  return call.answerWith === undefined ? serve(call, body, usage) : call.answerWith(call, body, usage)
}

function serveChat(call: MockCall, body: JsonObject, usage: MockUsage): MockAnswer {
  if (!Array.isArray(body.messages)) return missing(call, 'messages')
  const base = { id: `chatcmpl-${call.number}`, created, model: body.model, system_fingerprint: 'fp_mock' }
  const tool = { id: 'call_mock', type: 'function', function: { name: 'look', arguments: '{"at":"the sky"}' } }
  const called = Array.isArray(body.tools)
  const finish = called ? 'tool_calls' : 'stop'
  if (body.stream !== true) {
    const message = called
      ? { role: 'assistant', content: null, refusal: null, tool_calls: [tool] }
      : { role: 'assistant', content: spokenText, refusal: null }
    const choices = [{ index: 0, message, logprobs: null, finish_reason: finish }]
    const answer = { ...base, object: 'chat.completion', choices, usage: chatUsage(usage) }
    if (body.store === true) keepChat(call, body, answer)
    return json(call, JSON.stringify(answer, null, 2), usage)
  }
  if (body.store === true) keepChat(call, body, { ...base, object: 'chat.completion', choices: [] })
  const deltas: JsonObject[] = [{ role: 'assistant', content: '', refusal: null }]
  if (called) {
    deltas.push({ tool_calls: [{ index: 0, ...tool, function: { name: 'look', arguments: '' } }] })
    for (const part of ['{"at":', '"the sky"}'])
      deltas.push({ tool_calls: [{ index: 0, function: { arguments: part } }] })
  } else {
    for (const part of spoken) deltas.push({ content: part })
  }
  const asked = isObject(body.stream_options) && body.stream_options.include_usage === true
  const chunk = (choices: JsonObject[]) =>
    event({ ...base, object: 'chat.completion.chunk', choices, ...(asked ? { usage: null } : {}) })
  const events = deltas.map((delta) => chunk([{ index: 0, delta, logprobs: null, finish_reason: null }]))
  events.push(chunk([{ index: 0, delta: {}, logprobs: null, finish_reason: finish }]))
  if (asked) events.push(event({ ...base, object: 'chat.completion.chunk', choices: [], usage: chatUsage(usage) }))
  events.push('data: [DONE]\n\n')
  return stream(call, events, asked ? usage : null)
}

function keepChat(call: MockCall, { metadata = {}, messages }: JsonObject, answer: MockObject): void {
  const account = call.objects.of(credentialOf(call))
  account.keep('chat_completion', { ...answer, metadata })
  for (const [index, message] of (messages as JsonObject[]).entries())
    account.keep(`${answer.id}/message`, { id: `${answer.id}-${index}`, ...message })
}

function serveCompletions(call: MockCall, body: JsonObject, usage: MockUsage): MockAnswer {
  if (body.prompt === undefined) return missing(call, 'prompt')
  const base = { id: `cmpl-${call.number}`, object: 'text_completion', created, model: body.model }
  const choice = (text: string, finish: string | null) => ({ text, index: 0, logprobs: null, finish_reason: finish })
  if (body.stream !== true) {
    return json(
      call,
      JSON.stringify({ ...base, choices: [choice(spokenText, 'stop')], usage: chatUsage(usage) }),
      usage,
    )
  }
  const asked = isObject(body.stream_options) && body.stream_options.include_usage === true
  const tail = asked ? { usage: null } : {}
  const events = spoken.map((part) => event({ ...base, choices: [choice(part, null)], ...tail }))
  events.push(event({ ...base, choices: [choice('', 'stop')], ...tail }))
  if (asked) events.push(event({ ...base, choices: [], usage: chatUsage(usage) }))
  events.push('data: [DONE]\n\n')
  return stream(call, events, asked ? usage : null)
}

const lookCall = { name: 'look', arguments: '{"at": "the sky"}' }

function asksForLook({ tools }: JsonObject): boolean {
  return (
    Array.isArray(tools) && tools.some((tool) => isObject(tool) && tool.type === 'function' && tool.name === 'look')
  )
}

function calledSteps(item: JsonObject): [string, JsonObject][] {
  const at = { item_id: item.id, output_index: 0 }
  const pieces = ['{"at":', ' "the sky"}']
  return [
    ['response.output_item.added', { output_index: 0, item: { ...item, status: 'in_progress', arguments: '' } }],
    ...pieces.map((delta): [string, JsonObject] => ['response.function_call_arguments.delta', { ...at, delta }]),
    ['response.function_call_arguments.done', { ...at, ...lookCall }],
  ]
}

function serveResponses(call: MockCall, body: JsonObject, usage: MockUsage): MockAnswer {
  const account = call.objects.of(credentialOf(call))
  const absent = findMissing(account, body)
  if (absent !== null) return refuseAs(call, absent)
  const id = `resp_${call.number}`
  const itemId = `msg_${call.number}`
  const part = { type: 'output_text', text: spokenText, annotations: [], logprobs: [] }
  const item = asksForLook(body)
    ? { type: 'function_call', id: `fc_${call.number}`, call_id: 'call_mock', ...lookCall, status: 'completed' }
    : { type: 'message', id: itemId, role: 'assistant', status: 'completed', content: [part] }
  const response = (status: string, output: unknown[], used: unknown) => ({
    id,
    object: 'response',
    created_at: created,
    status,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model: body.model,
    output,
    store: body.store !== false,
    background: body.background === true,
    conversation: typeof body.conversation === 'string' ? { id: body.conversation } : (body.conversation ?? null),
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    usage: used,
  })
  const done = response('completed', [item], responsesUsage(usage))
  const at = { item_id: itemId, output_index: 0, content_index: 0 }
  const emptyPart = { ...part, text: '' }
  const said: [string, JsonObject][] = [
    ['response.output_item.added', { output_index: 0, item: { ...item, status: 'in_progress', content: [] } }],
    ['response.content_part.added', { ...at, part: emptyPart }],
    ...spoken.map((delta): [string, JsonObject] => ['response.output_text.delta', { ...at, delta, logprobs: [] }]),
    ['response.output_text.done', { ...at, text: spokenText, logprobs: [] }],
    ['response.content_part.done', { ...at, part }],
  ]
  const steps: [string, JsonObject][] = [
    ['response.created', { response: response('in_progress', [], null) }],
    ['response.in_progress', { response: response('in_progress', [], null) }],
    ...(item.type === 'message' ? said : calledSteps(item)),
    ['response.output_item.done', { output_index: 0, item }],
    ['response.completed', { response: done }],
  ]
  const events = steps.map(
    ([type, data], index) => `event: ${type}\n${event({ type, sequence_number: index, ...data })}`,
  )
  if (body.store !== false) keepResponse({ account, call, body }, done, events)
  if (body.stream === true) return stream(call, events, usage)
  // Done when it is looked at.
  if (body.background === true) return json(call, JSON.stringify(response('queued', [], null)), null)
  return json(call, JSON.stringify(done, null, 2), usage)
}

function serveEmbeddings(call: MockCall, body: JsonObject, usage: MockUsage): MockAnswer {
  if (body.input === undefined) return missing(call, 'input')
  const inputs = Array.isArray(body.input) ? body.input : [body.input]
  const data = inputs.map((_, index) => {
    const vector = [0.25, -0.5, index + 1]
    const embedding =
      body.encoding_format === 'base64' ? Buffer.from(new Float32Array(vector).buffer).toString('base64') : vector
    return { object: 'embedding', index, embedding }
  })
  const used = { prompt_tokens: usage.input, total_tokens: usage.input }
  const text = JSON.stringify({ object: 'list', data, model: body.model, usage: used })
  return { ...json(call, text), usage: reported({ input: usage.input }) }
}

function serveModerations(call: MockCall, body: JsonObject): MockAnswer {
  if (body.input === undefined) return missing(call, 'input')
  const categories = { violence: false, harassment: false }
  const results = [{ flagged: false, categories, category_scores: { violence: 0.001, harassment: 1e-5 } }]
  const model = typeof body.model === 'string' ? body.model : 'omni-moderation-latest'
  return json(call, JSON.stringify({ id: `modr-${call.number}`, model, results }))
}

function chatUsage(usage: MockUsage): JsonObject {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoning, audio_tokens: 0 },
  }
}

function responsesUsage(usage: MockUsage): JsonObject {
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  }
}

function event(data: JsonObject): string {
  return `data: ${JSON.stringify(data)}\n\n`
}

function json(call: MockCall, text: string, usage: MockUsage | null = null): MockAnswer {
  return wholeAnswer(200, headers(call.number), text, usage && reported(usage))
}

function stream(call: MockCall, events: string[], usage: MockUsage | null): MockAnswer {
  return streamAnswer(headers(call.number, 'text/event-stream; charset=utf-8'), events, usage && reported(usage))
}

function refusal(call: MockCall, status: number, message: string, type: string, code: string | null): MockAnswer {
  return wholeAnswer(
    status,
    headers(call.number),
    JSON.stringify({ error: { message, type, param: null, code } }, null, 4),
  )
}

function refuseAs(call: MockCall, { status, message, param, code }: Refusal): MockAnswer {
  const error = { message, type: 'invalid_request_error', param, code }
  return wholeAnswer(status, headers(call.number), JSON.stringify({ error }, null, 2))
}

function missing(call: MockCall, param: string): MockAnswer {
  const message = `Missing required parameter: '${param}'.`
  const error = { message, type: 'invalid_request_error', param, code: 'missing_required_parameter' }
  return wholeAnswer(400, headers(call.number), JSON.stringify({ error }, null, 4))
}

function headers(number: number, contentType = 'application/json'): [string, string][] {
  return [
    ['Content-Type', contentType],
    ['x-request-id', `req_openai_${number}`],
    ['openai-organization', 'org-mockcanary'],
    ['openai-project', 'proj_mockcanary'],
    ['openai-processing-ms', '12'],
    ['openai-version', '2020-10-01'],
    ['x-ratelimit-limit-requests', '10000'],
    ['x-ratelimit-remaining-requests', '9999'],
    ['x-ratelimit-reset-requests', '6ms'],
    ...cloudflareHeaders,
    ['alt-svc', 'h3=":443"; ma=86400'],
  ]
}
