import type { UsageConvention } from '../../src/core/record.ts'
import type { AnswerReader, Inspection, Lane, Match } from '../../src/lanes/contract.ts'
import { findLane } from '../../src/lanes/index.ts'
import { isFault } from '../../src/lanes/request-body.ts'

export interface OpenedReader {
  lane: Lane
  match: Match
  inspection: Inspection
  reader: AnswerReader
}

/** The reader for the answer to a call such as `POST /v1/chat/completions`. */
export function openReader(
  call: string,
  body: Buffer,
  { askForUsage = false, convention }: { askForUsage?: boolean; convention?: UsageConvention | undefined } = {},
): OpenedReader {
  const [method = '', target = ''] = call.split(' ')
  const [path = '', query = ''] = target.split('?')
  const lane = findLane(path)
  const match = lane?.match(method, path.slice(lane.prefix.length)) ?? null
  if (lane === null || match === null) throw new Error(`no endpoint for ${call}`)
  const inspection = match.endpoint.inspect(match, query, body)
  if (isFault(inspection)) throw new Error(inspection.message)
  const reader = match.endpoint.reader(inspection, { renameTo: null, askForUsage }, convention)
  return { lane, match, inspection, reader }
}
