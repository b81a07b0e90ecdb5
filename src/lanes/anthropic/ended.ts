import { asArray, asCount, asObject, asText } from '../../core/json/json-value.ts'
import type { EndedWork } from '../earlier-work.ts'

/** A batch's usage is only in its results. A batch without a successful request has used nothing. */
export function endedBatch(answer: unknown): readonly EndedWork[] {
  const batch = asObject(answer)
  const id = asText(batch?.id)
  if (batch === null || id === null || batch.processing_status !== 'ended') return []
  const some = asCount(asObject(batch.request_counts)?.succeeded) > 0
  return [{ type: 'batch', id, ...(some ? { unread: true } : {}), sums: [] }]
}

export function endedBatches(answer: unknown): readonly EndedWork[] {
  return asArray(asObject(answer)?.data).flatMap(endedBatch)
}
