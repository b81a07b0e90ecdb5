import type { UsageDetail } from '../../core/record.ts'
import type { Match } from '../../lanes/contract.ts'
import type { RequestBody } from './arrival.ts'

const noBytes = Buffer.alloc(0)

/** What a request of so many bytes asks for that is not paid by the token; null: nothing that could be told. */
export function askedUnits(
  { match: { endpoint }, body: { bytes: body, upload } }: { match: Match; body: RequestBody },
  bytes: number,
): UsageDetail | null {
  if (endpoint.readUnits === undefined) return null
  return endpoint.readUnits({ body, fields: upload?.fields ?? [], head: upload?.head ?? noBytes, bytes })
}
