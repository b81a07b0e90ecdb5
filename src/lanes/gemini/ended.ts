import { asArray, asCount, asObject, asText, type JsonObject, parseObject } from '../../core/json/json-value.ts'
import type { EndedWork, ResultUsage, StartedWork } from '../earlier-work.ts'
import { readInteractionUsage } from './interactions-reader.ts'
import { modelName } from './names.ts'
import { readGenerateDetail, readGenerateUsage, readInteractionDetail, readSearches } from './usage.ts'

/** A batch with inline requests has its answers in itself. */
export function endedBatch(answer: unknown): readonly EndedWork[] {
  return readBatch(answer)
}

export function endedBatches(answer: unknown): readonly EndedWork[] {
  return asArray(asObject(answer)?.operations).flatMap(readBatch)
}

/** An interaction may continue in the background. */
export function endedInteraction(answer: unknown): readonly EndedWork[] {
  const body = asObject(answer)
  return body === null ? [] : readInteraction(body)
}

/** An interaction in the background that has not ended. */
export function startedInteraction(answer: unknown): StartedWork | null {
  const body = asObject(answer)
  const id = asText(body?.id)
  return id === null || body?.status !== 'in_progress' ? null : { type: 'interaction', id }
}

/** A line of a batch's results: `{key, response}` or `{key, error}`. Source: wire/lanes.md, section 3.3; lines of embeddings [K]. */
export function readResult(line: Buffer): ResultUsage | null {
  return readLine(parseObject(line))
}

function readLine(line: JsonObject | null): ResultUsage | null {
  const response = asObject(line?.response)
  if (response === null) return null
  const counted = response.usageMetadata ?? response.usage_metadata
  const tokens = readGenerateUsage(counted) ?? readEmbedded(response.tokenCount ?? response.token_count)
  if (tokens === null) return null
  const model = asText(response.modelVersion) ?? asText(response.model_version)
  return { model, tokens, detail: readGenerateDetail(counted, readSearches(response.candidates, model)) }
}

/** 64-bit counts are strings in this JSON. */
function readEmbedded(count: unknown): ResultUsage['tokens'] | null {
  const input = asCount(typeof count === 'string' ? Number(count) : count)
  if (input === 0) return null
  return { input, output: 0, cache_read: 0, cache_write: 0, reasoning: 0, source: 'reported' }
}

const kinds = ['inlinedResponses', 'inlinedEmbedContentResponses']

/** The operation's `response` repeats the batch's `output`. */
function readBatch(value: unknown): EndedWork[] {
  const operation = asObject(value)
  const id = asText(operation?.name)
  const metadata = asObject(operation?.metadata)
  const output = asObject(operation?.response) ?? asObject(metadata?.output)
  if (id === null || operation?.done !== true) return []
  // It failed, or was cancelled.
  if (output === null) return [{ type: 'batch', id, sums: [] }]
  const model = modelName(asText(metadata?.model) ?? '')
  const lines = kinds.flatMap((kind) => asArray(asObject(output[kind])?.inlinedResponses))
  const sums = lines.flatMap((line) => {
    const used = readLine(asObject(line))
    return used === null ? [] : [{ ...used, model: used.model ?? model, lines: 1 }]
  })
  const unread = sums.length === 0 && asText(output.responsesFile ?? output.responses_file) !== null
  return [{ type: 'batch', id, ...(unread ? { unread } : {}), sums }]
}

const endings = new Set(['completed', 'failed', 'cancelled', 'incomplete'])

function readInteraction({ id: value, status, model: named, usage, service_tier }: JsonObject): EndedWork[] {
  const id = asText(value)
  const model = asText(named)
  const tokens = readInteractionUsage(usage)
  if (id === null || status === 'in_progress') return []
  if (tokens === null) return endings.has(String(status)) ? [{ type: 'interaction', id, sums: [] }] : []
  return [
    {
      type: 'interaction',
      id,
      sums: [{ model, lines: 1, tokens, detail: readInteractionDetail(usage, model, service_tier) }],
    },
  ]
}
