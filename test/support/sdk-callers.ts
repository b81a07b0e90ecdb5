import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import Anthropic0 from 'anthropic-sdk-0'
import { GoogleGenAI as GoogleGenAI1 } from 'genai-1'
import OpenAI from 'openai'
import OpenAI6 from 'openai-6'
import { vi } from 'vitest'
import type { LaneName } from '../../src/core/lane.ts'
import type { RecordingFetch } from './recording-fetch.ts'

/** The least call of every official SDK, and the class that it throws for a status. */
export interface SdkCaller {
  name: string
  lane: LaneName
  call(wire: RecordingFetch, options: SdkCall): Promise<unknown>
  className(status: number): string
}

export interface SdkCall {
  baseUrl: string
  key: string
  model: string
  stream?: boolean
}

// The calls used here are the same in all majors, whose classes TypeScript tells apart by their private members.
const older = {
  openai: OpenAI6 as unknown as typeof OpenAI,
  anthropic: Anthropic0 as unknown as typeof Anthropic,
  gemini: GoogleGenAI1 as unknown as typeof GoogleGenAI,
}

export const sdkCallers: readonly SdkCaller[] = [
  { name: 'openai-7', lane: 'openai', call: (wire, call) => callOpenai(OpenAI, wire, call), className: openaiClass },
  {
    name: 'openai-6',
    lane: 'openai',
    call: (wire, call) => callOpenai(older.openai, wire, call),
    className: openaiClass,
  },
  {
    name: 'anthropic-1',
    lane: 'anthropic',
    call: (wire, call) => callAnthropic(Anthropic, wire, call),
    className: (status) => anthropicClasses[status] ?? openaiClass(status),
  },
  {
    name: 'anthropic-0',
    lane: 'anthropic',
    call: (wire, call) => callAnthropic(older.anthropic, wire, call),
    className: openaiClass,
  },
  {
    name: 'genai-3',
    lane: 'gemini',
    call: (wire, call) => callGemini(GoogleGenAI, wire, call),
    className: () => 'ApiError',
  },
  {
    name: 'genai-1',
    lane: 'gemini',
    call: (wire, call) => callGemini(older.gemini, wire, call),
    className: () => 'ApiError',
  },
]

/** Source: wire/errors.md section 1. */
function openaiClass(status: number): string {
  if (status >= 500) return 'InternalServerError'
  return (
    {
      400: 'BadRequestError',
      401: 'AuthenticationError',
      403: 'PermissionDeniedError',
      404: 'NotFoundError',
      409: 'ConflictError',
      422: 'UnprocessableEntityError',
      429: 'RateLimitError',
    }[status] ?? 'APIError'
  )
}

/** What the current Anthropic SDK names more finely. Source: wire/errors.md section 2. */
const anthropicClasses: Record<number, string> = {
  501: 'NotImplementedError',
  413: 'ContentTooLargeError',
  503: 'ServiceUnavailableError',
  504: 'GatewayTimeoutError',
}

async function callOpenai(Client: typeof OpenAI, wire: RecordingFetch, call: SdkCall): Promise<unknown> {
  const client = new Client({ apiKey: call.key, baseURL: `${call.baseUrl}/v1`, fetch: wire.fetch, maxRetries: 0 })
  const messages = [{ role: 'user' as const, content: 'hello' }]
  if (!call.stream) return client.chat.completions.create({ model: call.model, messages })
  return readAll(await client.chat.completions.create({ model: call.model, messages, stream: true }))
}

async function callAnthropic(Client: typeof Anthropic, wire: RecordingFetch, call: SdkCall): Promise<unknown> {
  const baseURL = `${call.baseUrl}/v1/anthropic`
  const client = new Client({ apiKey: call.key, baseURL, fetch: wire.fetch, maxRetries: 0 })
  const body = { model: call.model, max_tokens: 8, messages: [{ role: 'user' as const, content: 'hello' }] }
  if (!call.stream) return client.messages.create(body)
  return readAll(await client.messages.create({ ...body, stream: true }))
}

async function callGemini(Client: typeof GoogleGenAI, wire: RecordingFetch, call: SdkCall): Promise<unknown> {
  // This SDK takes no fetch of its own.
  vi.stubGlobal('fetch', wire.fetch)
  try {
    const client = new Client({ apiKey: call.key, httpOptions: { baseUrl: `${call.baseUrl}/v1/gemini` } })
    const request = { model: call.model, contents: 'hello' }
    if (!call.stream) return await client.models.generateContent(request)
    return await readAll(await client.models.generateContentStream(request))
  } finally {
    vi.unstubAllGlobals()
  }
}

async function readAll(stream: AsyncIterable<unknown>): Promise<unknown[]> {
  const items: unknown[] = []
  for await (const item of stream) items.push(item)
  return items
}
