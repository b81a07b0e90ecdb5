import { loadOnce } from '../../core/load-once.ts'
import type { Gateway } from '../gateway.ts'
import type { Call, ReplayedReasoning } from '../request/call.ts'
import type { GatedAttempt } from './evaluate.ts'

const replaying = loadOnce(() => import('../translation/replayed-carriers.ts'))

const member = '"reasoning_content"'
const mostRead = 16 * 1024

/** How Groq, Mistral and Databricks say it. DeepSeek names the member where it misses it. */
const refusal =
  /reasoning_content[\s\S]{0,80}(?:unsupported|not (?:permitted|allowed|supported)|unexpected)|(?:un(?:known|recognized|expected|supported)|extra)[\s\S]{0,80}reasoning_content/i

/** Ids of providers that have refused it, in the memory of one thread: another one learns it by asking itself. */
export const refusing = new WeakMap<Gateway, Set<string>>()

/**
 * What earlier models thought stands in `reasoning_content` of a chat, also where this gateway has translated their answers. Some vendors
 * want it back, most pass over it, and a few refuse it. For one of these: what to leave out. Null: there is none.
 */
export function withoutShown(call: Call): Promise<ReplayedReasoning | null> | null {
  return mayShow(call) ? findShown(call) : null
}

/** The provider has refused such a call for it: what to leave out, if it is asked once more. */
export function afterRefusal(call: Call, { leg, gated }: GatedAttempt): Promise<ReplayedReasoning | null> | null {
  if (gated.kind !== 'error' || (gated.head.status !== 400 && gated.head.status !== 422) || !mayShow(call)) return null
  if (!refusal.test(gated.body.toString('utf8', 0, mostRead))) return null
  refusing.getOrInsertComputed(call.gateway, () => new Set()).add(leg.provider.row.id)
  return findShown(call)
}

function mayShow({ match, body }: Call): boolean {
  return match.endpoint.format === 'chat' && body.bytes.includes(member)
}

async function findShown(call: Call): Promise<ReplayedReasoning | null> {
  const { ReplayedCarriers } = await replaying()
  return ReplayedCarriers.findShown(call.body.bytes)
}
