import { loadOnce } from '../../core/threads/load-once.ts'
import type { Gateway } from '../gateway.ts'
import type { Call, ReplayedReasoning } from '../request/call.ts'
import type { LiveProvider } from '../thread/read-model.ts'
import type { GatedAttempt } from './evaluate.ts'

const replaying = loadOnce(() => import('../translation/replayed-carriers.ts'))

/** Where chats of several vendors show what the model thought. A client that carries one carries it to all. */
const members = ['"reasoning_content"', '"reasoning_details"', '"reasoning"']
const mostRead = 16 * 1024

/** How Groq, Mistral and Databricks say it. DeepSeek names the member where it misses it. */
const named = /(?:reasoning_(?:content|details)|['"`]reasoning['"`])/.source
const refusal = new RegExp(
  `${named}[\\s\\S]{0,80}(?:unsupported|not (?:permitted|allowed|supported)|unexpected)|` +
    `(?:un(?:known|recognized|expected|supported)|extra)[\\s\\S]{0,80}${named}`,
  'i',
)

/** How Anthropic says that the answer under way must begin with thinking, if the model is to think. */
const wantsThinking = /Expected `thinking` or `redacted_thinking`/

/** Of each provider the models that have refused it, in the memory of one thread: another one learns it by asking itself. */
export const refusing = new WeakMap<Gateway, Set<string>>()
/** More are forgotten, and ask once more. */
const mostKnown = 1000

/**
 * What earlier models thought stands in `reasoning_content` of a chat (OpenRouter has two members of its own), also where this gateway has translated their answers. Some vendors
 * want it back, most pass over it, and a few refuse it. For one of these: what to leave out. Null: there is none.
 */
export function withoutShown(
  call: Call,
  provider: LiveProvider,
  model: string,
): Promise<ReplayedReasoning | null> | null {
  return refusing.get(call.gateway)?.has(nameOf(provider, model)) === true && mayShow(call) ? findShown(call) : null
}

/** The provider has refused such a call for it: what to leave out, if it is asked once more. */
export function afterRefusal(call: Call, { gated }: GatedAttempt): Promise<ReplayedReasoning | null> | null {
  if (gated.kind !== 'error' || (gated.head.status !== 400 && gated.head.status !== 422)) return null
  const said = () => gated.body.toString('utf8', 0, mostRead)
  if (call.match.endpoint.format === 'messages') return wantsThinking.test(said()) ? findThinking(call) : null
  return mayShow(call) && refusal.test(said()) ? findShown(call) : null
}

/** It was asked without. Only an answer shows that this was why: what is said of another member may quote this one. */
export function noteWithout({ leg: { call, provider, candidate }, gated }: GatedAttempt): void {
  if (call.match.endpoint.format !== 'chat') return
  if (gated.kind !== 'whole' && gated.kind !== 'stream' && gated.kind !== 'flow') return
  const known = refusing.getOrInsertComputed(call.gateway, () => new Set())
  if (known.size >= mostKnown) known.clear()
  known.add(nameOf(provider, candidate.upstreamModel))
}

/** Another address is another vendor. */
function nameOf({ row }: LiveProvider, model: string): string {
  return `${row.id} ${row.baseUrl} ${model}`
}

function mayShow({ match, body }: Call): boolean {
  return match.endpoint.format === 'chat' && members.some((member) => body.bytes.includes(member))
}

async function findShown(call: Call): Promise<ReplayedReasoning | null> {
  const { ReplayedCarriers } = await replaying()
  return ReplayedCarriers.findShown(call.body.bytes)
}

async function findThinking(call: Call): Promise<ReplayedReasoning | null> {
  const { ReplayedCarriers } = await replaying()
  return ReplayedCarriers.findThinking(call.body.bytes)
}
