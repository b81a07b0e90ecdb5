import { maskGatewayKeys } from '../../core/gateway-key.ts'
import { maskKeys, mayHoldKey } from '../../core/mask-keys.ts'
import type { RequestRecord } from '../../core/record.ts'

/** The password in an address may be short: `://:x@`. */
const shortestKey = 6

/**
 * The text of a journal entry without keys, where its record may hold any. To search all of it costs twice as much as to write it. So
 * only those texts of a plain record are searched that its client chose: nothing else of it can hold what they do not.
 */
export function maskEntry(text: string, record: RequestRecord): string {
  return mayHoldKeys(record) ? maskKeys(text) : maskGatewayKeys(text)
}

function mayHoldKeys(record: RequestRecord): boolean {
  const { error, attempts, losses, path, model, upstream_model, provider_request_id, client, trace, tags } = record
  if (error !== null || attempts.length > 1 || isNoted(attempts[0]?.message) || losses.some(holdsKey)) return true
  if (holdsKey(path) || holdsKey(model) || holdsKey(upstream_model) || holdsKey(client.user_agent)) return true
  if (holdsKey(record.usage_detail?.image_size)) return true
  if (holdsKey(provider_request_id) || (trace !== null && holdsKey(trace.state))) return true
  for (const name in tags) if (holdsKey(name) || holdsKey(tags[name])) return true
  return false
}

const isNoted = (text: string | null | undefined): boolean => typeof text === 'string' && text !== ''

function holdsKey(text: string | null | undefined): boolean {
  if (typeof text !== 'string' || text.length < shortestKey || plainTexts.has(text)) return false
  if (mayHoldKey(text)) return true
  if (plainTexts.size >= mostPlainTexts) plainTexts.clear()
  plainTexts.add(text)
  return false
}

/** A few user agents, paths and models are those of nearly all requests. */
const plainTexts = new Set<string>()
const mostPlainTexts = 256
