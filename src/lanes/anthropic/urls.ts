import { type Span, scanElements, scanObject } from '../../core/json/json-scan.ts'
import { readValue } from '../../core/json/json-value.ts'
import type { LaneUrls } from '../contract.ts'
import { editMembers } from '../text-members.ts'

const resultsPath = /\/v1\/messages\/batches\/([^/?#\\\s]+)\/results$/
/** Servers would resolve these as path segments. */
const dots = new Set(['', '.', '..'])

/**
 * `results_url`, which both SDKs follow unchanged, with the client's credential. Whatever its host, only its path says
 * what it is; if the path does not, the batch's own id does; otherwise it becomes null. Source: wire/lanes.md, section
 * 2.5.
 */
export function rewriteAnswerUrls(body: Buffer, { lane }: LaneUrls): Buffer {
  let ids: Map<number, string> | null = null
  return editMembers(body, ['results_url'], (value, at) => {
    if (value === null) return undefined
    const id = typeof value === 'string' ? resultsPath.exec(value)?.[1] : undefined
    if (id !== undefined && !dots.has(id)) return `${lane}/v1/messages/batches/${id}/results`
    ids ??= batchIds(body)
    const segment = writeSegment(ids.get(at) ?? '')
    return segment === null ? null : `${lane}/v1/messages/batches/${segment}/results`
  })
}

/** Where the value of a `results_url` begins, and the id beside it, of one batch or of each in a list. */
function batchIds(body: Buffer): Map<number, string> {
  const top = { start: 0, end: body.length }
  const list = scanObject(body, ['data'], top)
  const elements = list.ok ? list.members.flatMap((data) => scanElements(body, data) ?? []) : []
  return new Map([top, ...elements].flatMap((span) => readBatch(body, span)))
}

function readBatch(body: Buffer, span: Span): [at: number, id: string][] {
  const batch = scanObject(body, ['id', 'results_url'], span)
  if (!batch.ok) return []
  // As JSON.parse does, the last of several counts.
  const member = batch.members.findLast(({ name }) => name === 'id')
  const id = member === undefined ? null : readValue(body, member)
  if (typeof id !== 'string') return []
  return batch.members.filter(({ name }) => name === 'results_url').map(({ start }) => [start, id])
}

function writeSegment(id: string): string | null {
  if (dots.has(id) || !id.isWellFormed()) return null
  return encodeURIComponent(id)
}
