import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { onTestFinished } from 'vitest'
import { z } from 'zod'

/**
 * A collector that takes only what OTLP/JSON allows: ids in hex and none of them 0, 64-bit numbers as text, enumerations as
 * numbers, no unknown member, no attribute twice, no span that ends before it starts. What it refuses it answers with 400.
 */
const id = (digits: number) =>
  z
    .string()
    .regex(new RegExp(`^[0-9a-f]{${digits}}$`))
    .refine((text) => !/^0+$/.test(text))
const nano = z.string().regex(/^[1-9]\d{15,19}$/)
const attributeValue = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d{1,19}$/) }),
  z.strictObject({ doubleValue: z.number() }),
])
const attributes = z
  .array(z.strictObject({ key: z.string().min(1), value: attributeValue }))
  .refine((list) => new Set(list.map(({ key }) => key)).size === list.length, 'an attribute stands twice')
const event = z.strictObject({ timeUnixNano: nano, name: z.string().min(1), attributes })
const span = z
  .strictObject({
    traceId: id(32),
    spanId: id(16),
    traceState: z.string().optional(),
    parentSpanId: id(16).optional(),
    flags: z.number().int().min(0).max(0x3ff),
    name: z.string().min(1),
    kind: z.number().int().min(1).max(5),
    startTimeUnixNano: nano,
    endTimeUnixNano: nano,
    attributes,
    events: z.array(event).optional(),
    status: z.strictObject({ code: z.literal([1, 2]), message: z.string().optional() }).optional(),
  })
  .refine((found) => BigInt(found.endTimeUnixNano) >= BigInt(found.startTimeUnixNano), 'it ends before it starts')
const scope = z.strictObject({ name: z.string(), version: z.string() })
const resourceSpans = z.strictObject({
  resource: z.strictObject({ attributes: attributes.refine((list) => list.some(({ key }) => key === 'service.name')) }),
  scopeSpans: z.array(z.strictObject({ scope, spans: z.array(span).min(1) })),
})
const exportRequest = z.strictObject({ resourceSpans: z.array(resourceSpans) })

export interface CollectedSpan {
  traceId: string
  spanId: string
  parentSpanId: string | null
  traceState: string | null
  name: string
  kind: number
  flags: number
  startNano: bigint
  endNano: bigint
  attributes: Record<string, string | number | boolean>
  events: string[]
  status: { code: number; message?: string | undefined } | null
}

export interface MockCollector {
  url: string
  /** Accepted ones, in the order received. */
  spans: CollectedSpan[]
  /** Of each request, in order. */
  requests: { path: string; headers: IncomingHttpHeaders }[]
  /** Why an export was refused. */
  faults: string[]
  /** The answers to the next exports, before they are looked at. */
  answers: { status: number; headers?: Record<string, string>; body?: string; loses?: boolean }[]
}

export async function startMockCollector(port = 0): Promise<MockCollector> {
  const collector: MockCollector = { url: '', spans: [], requests: [], faults: [], answers: [] }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    collector.requests.push({ path: request.url ?? '', headers: request.headers })
    const answer = collector.answers.shift()
    const said = answer?.loses === true || answer === undefined ? collect(collector, request.headers, chunks) : null
    if (answer?.loses === true) return void response.destroy()
    const { status, headers, body } = answer ?? { status: said === null ? 200 : 400, headers: {}, body: said ?? '{}' }
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body ?? '{}')
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  collector.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return collector
}

/** Null: accepted. */
function collect(collector: MockCollector, headers: IncomingHttpHeaders, chunks: readonly Buffer[]): string | null {
  try {
    if (headers['content-type'] !== 'application/json') throw new Error('not JSON')
    const body = Buffer.concat(chunks)
    const text = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
    const found = exportRequest.parse(JSON.parse(text.toString()))
    for (const { scopeSpans } of found.resourceSpans)
      for (const { spans } of scopeSpans) collector.spans.push(...spans.map(toCollected))
    return null
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error)
    collector.faults.push(fault)
    return fault
  }
}

function toCollected(found: z.output<typeof span>): CollectedSpan {
  const { traceId, spanId, name, kind, flags } = found
  return {
    ...{ traceId, spanId, name, kind, flags },
    parentSpanId: found.parentSpanId ?? null,
    traceState: found.traceState ?? null,
    startNano: BigInt(found.startTimeUnixNano),
    endNano: BigInt(found.endTimeUnixNano),
    attributes: Object.fromEntries(found.attributes.map(({ key, value }) => [key, read(value)])),
    events: (found.events ?? []).map((each) => each.name),
    status: found.status ?? null,
  }
}

function read(value: z.output<typeof attributeValue>): string | number | boolean {
  if ('intValue' in value) return Number(value.intValue)
  if ('doubleValue' in value) return value.doubleValue
  return 'boolValue' in value ? value.boolValue : value.stringValue
}
