import type { LaneName } from '../../src/core/lane.ts'
import type { TokenUsage } from '../../src/core/record.ts'
import type { MockObjects } from './mock-objects.ts'

/** What a mock provider says about its wire format: whom it lets in, and what it answers. Source: wire/lanes.md, wire/streaming.md, wire/errors.md. */
export interface MockFormat {
  name: LaneName
  /** Appended to the mock's origin to give the base URL that the vendor's own SDK would be given. */
  basePath: string
  /** The answer to a call without the right credential, else null. */
  refuse(call: MockCall, credentials: ReadonlySet<string>): MockAnswer | null | Promise<MockAnswer | null>
  answer(call: MockCall, usage: MockUsage): MockAnswer
  /** An error in the provider's own shape. */
  error(status: number, message: string, number: number): MockAnswer
  /** The provider's own error event inside a stream. */
  /** `sent`: the events before it. */
  streamError(message: string, sent?: readonly Buffer[]): Buffer
  /** Credential headers of other formats: their presence is a leak. */
  foreignHeaders: readonly string[]
}

/** One request as it came off the wire. */
export interface MockCall {
  number: number
  method: string
  /** As sent, query included. */
  target: string
  path: string
  query: URLSearchParams
  rawHeaders: readonly string[]
  /** Lower-case names; repeated values joined as node does. */
  headers: ReadonlyMap<string, string>
  body: Buffer
  sha256: string
  /** What this mock keeps, for all its accounts. */
  objects: MockObjects
  /** Answers a call for a model's answer in the place of the mock, once the mock has let it in. */
  answerWith?: (call: MockCall, body: JsonObject, usage: MockUsage) => MockAnswer
}

export interface MockAnswer {
  status: number
  headers: [string, string][]
  /** One entry an event of a stream; a whole body is one entry. */
  parts: Buffer[]
  streamed: boolean
  /** What a reader should make of the reported usage; null where the answer reports none. */
  usage: TokenUsage | null
}

/** Figures that the mock reports, in the record's convention (`input` with cached tokens in it, `output` with reasoning in it). */
export interface MockUsage {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  reasoning: number
}

export function reported(usage: Partial<MockUsage>): TokenUsage {
  return {
    input: usage.input ?? 0,
    output: usage.output ?? 0,
    cache_read: usage.cacheRead ?? 0,
    cache_write: usage.cacheWrite ?? 0,
    reasoning: usage.reasoning ?? 0,
    source: 'reported',
  }
}

/** Of vendors behind Cloudflare: none of them goes to a client. */
export const cloudflareHeaders: readonly [string, string][] = [
  ['set-cookie', '__cf_bm=mockcanary; path=/; HttpOnly'],
  ['cf-ray', '8f00mockcanary-FRA'],
  ['cf-cache-status', 'DYNAMIC'],
  ['server', 'cloudflare'],
  ['via', '1.1 mockcanary'],
  ['strict-transport-security', 'max-age=31536000'],
]

export function wholeAnswer(
  status: number,
  headers: [string, string][],
  body: string,
  usage: TokenUsage | null = null,
): MockAnswer {
  return { status, headers, parts: [Buffer.from(body)], streamed: false, usage }
}

export function streamAnswer(headers: [string, string][], events: string[], usage: TokenUsage | null): MockAnswer {
  return { status: 200, headers, parts: events.map((event) => Buffer.from(event)), streamed: true, usage }
}

export type JsonObject = Record<string, unknown>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The body as a JSON object, or null: providers answer 400 to both broken JSON and other JSON values. */
export function parseObject(body: Buffer): JsonObject | null {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

/** What the mocks say, in pieces as they stream them: multi-byte characters, an emoji, a quotation mark and a line break. */
export const spoken = ['Hello', ' from "the mock",\n', 'Grüße, 世界', ' 🌍.'] as const
export const spokenText: string = spoken.join('')
