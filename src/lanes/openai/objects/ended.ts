import type { EndedWork, Match } from '../../contract.ts'
import { asArray, asCount, asObject, asText, type JsonObject } from '../../json-value.ts'
import { readUsage } from '../usage.ts'

/** What goes on behind its call says at its end what it used: a response in the background, the run of an eval or of a thread. */
export function readEnd({ endpoint }: Match, answer: unknown): readonly EndedWork[] {
  const body = asObject(answer)
  const shown = endpoint.operation.endsWith('.runs.list') ? asArray(body?.data) : [body]
  return shown.flatMap((value) => {
    const work = asObject(value)
    const id = asText(work?.id)
    if (work === null || id === null || !endings.has(String(work.status))) return []
    if (endpoint.object?.type === 'eval') return [readRun(id, work)]
    return readOne(endpoint.object?.type === 'thread' ? 'thread_run' : 'response', id, work)
  })
}

const endings = new Set(['completed', 'incomplete', 'failed', 'cancelled', 'canceled', 'expired'])

function readOne(type: EndedWork['type'], id: string, { model, usage }: JsonObject): EndedWork[] {
  const tokens = readUsage(usage)
  return tokens === null ? [] : [{ type, id, sums: [{ model: asText(model), lines: 1, tokens }] }]
}

/** Source: the SDK's `RunRetrieveResponse.PerModelUsage`. */
function readRun(id: string, { per_model_usage }: JsonObject): EndedWork {
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
  return { type: 'eval_run', id, sums }
}
