import type { BackgroundWork } from '../../../core/journal-format.ts'
import { asArray, asCount, asObject, asText, type JsonObject } from '../../../core/json/json-value.ts'
import type { EndedWork, StartedWork } from '../../earlier-work.ts'
import { readCalls, readUsage, readUsageDetail, resultsBeside } from '../usage.ts'

/** A response in the background, before its end. */
export function startedResponse(answer: unknown): StartedWork | null {
  return readStarted('response', answer)
}

/** The run of a thread. */
export function startedThreadRun(answer: unknown): StartedWork | null {
  return readStarted('thread_run', answer)
}

export function startedEvalRun(answer: unknown): StartedWork | null {
  return readStarted('eval_run', answer)
}

function readStarted(type: BackgroundWork, answer: unknown): StartedWork | null {
  const work = asObject(answer)
  const id = asText(work?.id)
  return id === null || !unfinished.has(String(work?.status)) ? null : { type, id }
}

const unfinished = new Set(['queued', 'in_progress', 'requires_action'])

type ReadEndedWork = (id: string, work: JsonObject) => readonly EndedWork[]

/** A background response that has ended. */
export function endedResponse(answer: unknown): readonly EndedWork[] {
  return readEnded(answer, readResponse)
}

export function endedThreadRun(answer: unknown): readonly EndedWork[] {
  return readEnded(answer, readThreadRun)
}

export function endedThreadRuns(answer: unknown): readonly EndedWork[] {
  return asArray(asObject(answer)?.data).flatMap(endedThreadRun)
}

export function endedEvalRun(answer: unknown): readonly EndedWork[] {
  return readEnded(answer, readEvalRun)
}

export function endedEvalRuns(answer: unknown): readonly EndedWork[] {
  return asArray(asObject(answer)?.data).flatMap(endedEvalRun)
}

/** A batch whose answer reports its usage, or says that it has no results. If it only names a results file, usage is read there. */
export function endedBatch(answer: unknown): readonly EndedWork[] {
  return readEnded(answer, readBatch)
}

export function endedBatches(answer: unknown): readonly EndedWork[] {
  return asArray(asObject(answer)?.data).flatMap(endedBatch)
}

/** Source: the SDK's `Batch`, which has `usage` and `model` since 2025-09. */
function readBatch(id: string, { model, usage, request_counts, output_file_id }: JsonObject): EndedWork[] {
  const tokens = readUsage(usage)
  const hasResults = asText(output_file_id) !== null
  if (tokens !== null && tokens.input + tokens.output > 0) {
    const lines = Math.max(1, asCount(asObject(request_counts)?.completed))
    return [
      { type: 'batch', id, ...(hasResults ? { hasResults } : {}), sums: [{ model: asText(model), lines, tokens }] },
    ]
  }
  return [{ type: 'batch', id, ...(hasResults ? { unread: true } : {}), sums: [] }]
}

function readEnded(answer: unknown, read: ReadEndedWork): readonly EndedWork[] {
  const work = asObject(answer)
  const id = asText(work?.id)
  return work === null || id === null || !endings.has(String(work.status)) ? [] : read(id, work)
}

const endings = new Set(['completed', 'incomplete', 'failed', 'cancelled', 'canceled', 'expired'])

function readResponse(id: string, work: JsonObject): EndedWork[] {
  return readUsed('response', id, work)
}

function readThreadRun(id: string, work: JsonObject): EndedWork[] {
  return readUsed('thread_run', id, work)
}

/** Without reported usage it used nothing: it was cancelled, or failed. */
function readUsed(type: EndedWork['type'], id: string, work: JsonObject): EndedWork[] {
  const tokens = readUsage(work.usage)
  if (tokens === null) return [{ type, id, sums: [] }]
  const detail = readUsageDetail(work.usage, work.service_tier, readCalls(work))
  const own = { model: asText(work.model), lines: 1, tokens, detail }
  return [{ type, id, sums: [own, ...resultsBeside(work).map((used) => ({ ...used, lines: 0 }))] }]
}

/** Source: the SDK's `RunRetrieveResponse.PerModelUsage`. */
function readEvalRun(id: string, { per_model_usage }: JsonObject): EndedWork[] {
  const sums = asArray(per_model_usage).flatMap((value) => {
    const used = asObject(value)
    if (used === null) return []
    const tokens = {
      input: asCount(used.prompt_tokens),
      output: asCount(used.completion_tokens),
      cache_read: asCount(used.cached_tokens),
      cache_write: 0,
      reasoning: 0,
      source: 'reported' as const,
    }
    return [{ model: asText(used.model_name), lines: asCount(used.invocation_count), tokens }]
  })
  return [{ type: 'eval_run', id, sums }]
}
