import { families as kept, refuseForeign } from './gemini/families.ts'
import { interactions } from './gemini/interactions.ts'
import { serveUpload } from './gemini/upload.ts'
import { answerRows } from './mock-families.ts'
import {
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
import { Refusal, type Streamed } from './openai/family.ts'

/** A strict Gemini under v1, v1beta and v1alpha: generate, stream (SSE and JSON array), count, embed, models, and what it keeps for its accounts. */
export const mockGemini: MockFormat = {
  name: 'gemini',
  basePath: '',
  foreignHeaders: ['authorization', 'x-api-key', 'api-key', 'anthropic-version'],
  refuse(call, credentials) {
    const given = call.headers.get('x-goog-api-key')
    if (given === undefined) {
      return refusal(call.number, 403, "Method doesn't allow unregistered callers.", [])
    }
    if (credentials.has(given)) return null
    const info = {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'API_KEY_INVALID',
      domain: 'googleapis.com',
      metadata: { service: 'generativelanguage.googleapis.com' },
    }
    return refusal(call.number, 400, 'API key not valid. Please pass a valid API key.', [info])
  },
  answer(call, usage) {
    const path = /^\/(v1|v1beta|v1alpha)\/(.+)$/.exec(decodeURIComponent(call.path))?.[2]
    if (call.method === 'GET' && path === 'models') {
      return json(call, JSON.stringify({ models: models.map(modelEntry) }))
    }
    const model = call.method === 'GET' ? /^models\/([^:/]+)$/.exec(path ?? '')?.[1] : undefined
    if (model !== undefined) return json(call, JSON.stringify(modelEntry(model)))
    const foreign = refuseForeign(call, accountOf(call))
    if (foreign !== null) return refusal(call.number, foreign.status, foreign.message, [])
    const verb = call.method === 'POST' ? /^(?:models|tunedModels)\/([^:]+):([A-Za-z]+)$/.exec(path ?? '') : null
    const serve = verb?.[2] === undefined ? undefined : verbs[verb[2]]
    if (serve) return servePost(call, usage, verb?.[1] ?? '', serve)
    return call.path.startsWith('/upload/') ? takeUpload(call) : serveKept(call, usage)
  },
  error(status, message, number) {
    return refusal(number, status, message, [])
  },
  streamError(message) {
    return Buffer.from(`data: ${JSON.stringify({ error: { code: 503, message, status: 'UNAVAILABLE' } })}\r\n\r\n`)
  },
}

function accountOf(call: MockCall) {
  return call.objects.of(call.headers.get('x-goog-api-key') ?? '')
}

function takeUpload(call: MockCall): MockAnswer {
  const answer = serveUpload(call, accountOf(call))
  if (answer instanceof Refusal) return refusal(call.number, answer.status, answer.message, [])
  const text = answer.body === null ? '' : JSON.stringify(answer.body, null, 2)
  return wholeAnswer(200, [...headers(call.number), ...answer.headers], text)
}

const families = [...kept, ...interactions]

/** What belongs to the account that the credential is of. */
function serveKept(call: MockCall, usage: MockUsage): MockAnswer {
  const path = call.path.replace(/^(?:\/download)?\/(?:v1|v1beta|v1alpha)\//, '/')
  const found = answerRows(families, { ...call, path }, call.headers.get('x-goog-api-key') ?? '', usage)
  if (found === null) return refusal(call.number, 404, `${call.method} ${call.path} was not found.`, [])
  const { given, row } = found
  if (given instanceof Refusal) return refusal(call.number, given.status, given.message, [])
  if (Buffer.isBuffer(given)) {
    const sent = headers(call.number, 'application/octet-stream')
    return { status: 200, headers: sent, parts: [given], streamed: false, usage: null }
  }
  const told = row.call.includes('/interactions') ? geminiReported(usage) : null
  if (isStreamed(given)) return streamAnswer(headers(call.number, 'text/event-stream'), given.stream, told)
  return { ...json(call, JSON.stringify(given, null, 2)), usage: 'usage' in given ? told : null }
}

function isStreamed(given: object): given is Streamed {
  return 'stream' in given && Array.isArray(given.stream)
}

const models = ['gemini-3.8-flash', 'gemini-embedding-2']

function modelEntry(id: string) {
  return {
    name: `models/${id}`,
    displayName: id,
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
  }
}

type Serve = (call: MockCall, body: JsonObject, usage: MockUsage, model: string) => MockAnswer

const verbs: Record<string, Serve> = {
  generateContent: serveGenerate,
  streamGenerateContent: serveStream,
  countTokens: (call, _body, usage) =>
    json(
      call,
      JSON.stringify({
        totalTokens: usage.input,
        promptTokensDetails: [{ modality: 'TEXT', tokenCount: usage.input }],
      }),
    ),
  embedContent: (call) => json(call, JSON.stringify({ embedding: { values: [0.25, -0.5, 1] } })),
  batchEmbedContents: serveBatchEmbed,
}

function servePost(call: MockCall, usage: MockUsage, model: string, serve: Serve): MockAnswer {
  const body = parseObject(call.body)
  if (body === null) return refusal(call.number, 400, 'Invalid JSON payload received.', [])
  if (call.answerWith !== undefined) return call.answerWith(call, body, usage)
  return serve(call, body, usage, model)
}

function serveGenerate(call: MockCall, body: JsonObject, usage: MockUsage, model: string): MockAnswer {
  if (!Array.isArray(body.contents)) return refusal(call.number, 400, 'contents is not specified', [])
  const text = JSON.stringify(chunk(model, call.number, answerPart(body), 'STOP', geminiUsage(usage)), null, 2)
  return { ...json(call, text), usage: geminiReported(usage) }
}

function serveStream(call: MockCall, body: JsonObject, usage: MockUsage, model: string): MockAnswer {
  if (!Array.isArray(body.contents)) return refusal(call.number, 400, 'contents is not specified', [])
  const parts = body.tools === undefined ? spoken.map((text) => ({ text })) : [answerPart(body)]
  const chunks = parts.map((part, index) => {
    const last = index === parts.length - 1
    // Running figures on every chunk, as the real one sends them: only the last may count.
    const used = last ? geminiUsage(usage) : { promptTokenCount: usage.input, totalTokenCount: usage.input }
    return JSON.stringify(chunk(model, call.number, part, last ? 'STOP' : null, used))
  })
  if (call.query.get('alt') === 'sse') {
    const events = chunks.map((text) => `data: ${text}\r\n\r\n`)
    return streamAnswer(headers(call.number, 'text/event-stream'), events, geminiReported(usage))
  }
  const elements = chunks.map((text, index) => (index === 0 ? `[${text}\n` : `,\r\n${text}\n`))
  return streamAnswer(headers(call.number), [...elements, ']'], geminiReported(usage))
}

function serveBatchEmbed(call: MockCall, body: JsonObject, _usage: MockUsage, model: string): MockAnswer {
  if (!Array.isArray(body.requests)) return refusal(call.number, 400, 'requests is not specified', [])
  // The real one insists that path and members name the same model.
  const other = body.requests.find((request) => isObject(request) && request.model !== `models/${model}`)
  if (other !== undefined) return refusal(call.number, 400, 'Model in the request does not match the URL.', [])
  const embeddings = body.requests.map((_, index) => ({ values: [0.25, -0.5, index + 1] }))
  return json(call, JSON.stringify({ embeddings }))
}

function answerPart(body: JsonObject): JsonObject {
  return body.tools === undefined
    ? { text: spokenText }
    : { functionCall: { name: 'look', args: { at: 'the sky' } }, thoughtSignature: 'c2lnbmF0dXJl' }
}

function chunk(model: string, number: number, part: JsonObject, finish: string | null, usage: JsonObject): JsonObject {
  const candidate = { content: { parts: [part], role: 'model' }, ...(finish ? { finishReason: finish } : {}), index: 0 }
  return { candidates: [candidate], usageMetadata: usage, modelVersion: model, responseId: `resp_gemini_${number}` }
}

/** Thoughts stand beside the candidates' tokens; cached tokens in the prompt's; writes to a cache are not reported. */
function geminiUsage(usage: MockUsage): JsonObject {
  return {
    promptTokenCount: usage.input,
    candidatesTokenCount: usage.output - usage.reasoning,
    totalTokenCount: usage.input + usage.output,
    cachedContentTokenCount: usage.cacheRead,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: usage.input }],
    thoughtsTokenCount: usage.reasoning,
  }
}

function geminiReported(usage: MockUsage) {
  return reported({ ...usage, cacheWrite: 0 })
}

function json(call: MockCall, text: string): MockAnswer {
  return wholeAnswer(200, headers(call.number), text)
}

const statuses: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

function refusal(number: number, status: number, message: string, details: unknown[]): MockAnswer {
  const error = {
    code: status,
    message,
    status: statuses[status] ?? 'UNKNOWN',
    ...(details.length > 0 ? { details } : {}),
  }
  return wholeAnswer(status, headers(number), JSON.stringify({ error }, null, 2))
}

function headers(_number: number, contentType = 'application/json; charset=UTF-8'): [string, string][] {
  return [
    ['Content-Type', contentType],
    ['Vary', 'Origin'],
    ['Vary', 'X-Origin'],
    ['Server', 'scaffolding on HTTPServer2'],
    ['X-XSS-Protection', '0'],
    ['X-Frame-Options', 'SAMEORIGIN'],
    ['X-Content-Type-Options', 'nosniff'],
    ['Server-Timing', 'gfet4t7; dur=412'],
    ['Alt-Svc', 'h3=":443"; ma=2592000'],
    ['set-cookie', 'NID=mockcanary; path=/'],
    ['via', '1.1 mockcanary'],
  ]
}
