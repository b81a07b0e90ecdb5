import { type LaneCall, writeLaneCall } from '../../../../core/lane-call.ts'
import type { RequestRecord } from '../../../../core/record.ts'
import type { RequestBodies } from '../outputs.ts'

type CapturedRequest = NonNullable<RequestBodies['request']>

const conversations = ['chat', 'messages', 'generate']

/** The other calls of the OpenAI lane that a model and a line of text are enough for. */
const plainCalls: Record<string, { path: string; field: string }> = {
  responses: { path: '/v1/responses', field: 'input' },
  embeddings: { path: '/v1/embeddings', field: 'input' },
  completions: { path: '/v1/completions', field: 'prompt' },
  moderations: { path: '/v1/moderations', field: 'input' },
}

/**
 * The captured call; null if it was not captured whole. Path and body are a client's: curl neither repeats the call for
 * brackets in the one (`-g`) nor sends the file that the other names after an `@` (`--data-raw`).
 */
export function curlOfCaptured(captured: CapturedRequest, streamed: boolean, gatewayUrl: string): string | null {
  const { method, path, headers, content, truncated } = captured
  if (content === null || truncated) return null
  const own = Object.entries({ 'content-type': 'application/json', ...headers })
  return [
    `curl -sg${streamed ? 'N' : ''} -X ${method} ${quote(`${gatewayUrl}${path}`)} \\`,
    `  -H "Authorization: Bearer $SPGW_KEY" \\`,
    ...own.map(([name, value]) => `  -H ${quote(`${name}: ${value}`)} \\`),
    `  --data-raw ${quote(content)}`,
  ].join('\n')
}

/** A call like this one, with a body to fill in; null where the record alone is not enough to write one. */
export function curlLike(record: RequestRecord, gatewayUrl: string): string | null {
  const call = callLike(record)
  if (call === null) return null
  return [
    `curl -s${record.streamed ? 'N' : ''} ${quote(`${gatewayUrl}${call.path}`)} \\`,
    `  -H "Authorization: Bearer $SPGW_KEY" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${quote(JSON.stringify(call.body))}`,
  ].join('\n')
}

function callLike({ lane, model, operation, streamed }: RequestRecord): LaneCall | null {
  if (lane === null || model === null || operation === null) return null
  if (conversations.includes(operation)) {
    const turns = [{ role: 'user', text: 'hello' }] as const
    return writeLaneCall(lane, { model, turns, streamed, maxTokens: null, temperature: null })
  }
  const plain = lane === 'openai' ? plainCalls[operation] : undefined
  if (plain === undefined) return null
  return { path: plain.path, body: { model, [plain.field]: 'hello', ...(streamed ? { stream: true } : {}) } }
}

/** Quotes one shell word: model names come from clients. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
