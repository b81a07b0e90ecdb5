import { isFormatName } from '../../../core/format.ts'
import { type EffectivePolicy, outputCap } from '../../../policy/admit.ts'
import { PriceBook } from '../../../policy/prices/find-price.ts'
import type { ProviderKind } from '../../../providers/contract.ts'
import { vendorOf } from '../../../providers/vendor.ts'
import type { Candidate, Plan } from '../../../routing/plan.ts'
import type { TranslationTarget } from '../../../translate/codec.ts'
import type { Conversation } from '../../../translate/conversation.ts'
import type { AdminContext } from '../context.ts'

/** What of a plan the body of its request decides: at each target what would be lost, or why it cannot be asked. */
export interface ExplainedTranslation {
  /** By candidate. Absent: it is asked in the request's own format, or the body is not known. */
  losses: ReadonlyMap<Candidate, readonly string[]>
  refused: ReadonlyMap<Candidate, string>
}

const nothing: ExplainedTranslation = { losses: new Map(), refused: new Map() }

interface KnownRequest {
  /** null: not known. */
  text: string | null
  operation: string | null
  streamed: boolean
  /** null: the client sets none. */
  outputLimit: number | null
  /** Of the key; null: none is asked for. */
  policy: EffectivePolicy | null
  /** What a budget lets it write, where that is less. */
  room?: number
}

/** Writes the request for each target that is asked in another format, as the data plane would, and sends nothing. */
export async function explainTranslation(
  { kinds, runtime }: Pick<AdminContext, 'kinds' | 'runtime'>,
  { candidates, route }: Plan,
  { text, operation, streamed, outputLimit, policy, room }: KnownRequest,
): Promise<ExplainedTranslation> {
  const foreign = candidates.filter(({ translated }) => translated !== null)
  if (text === null || foreign.length === 0) return nothing
  if (foreign[0]?.translated?.embeds === true) return await explainEmbeddings(foreign, text, route?.strict === true)
  if (!isFormatName(operation)) return nothing
  const { codecs } = await import('../../../translate/index.ts')
  const { readDocument } = await import('../../../translate/json.ts')
  const { withoutState } = await import('../../../translate/kept-state.ts')
  const { writeFor } = await import('../../../translate/write-for.ts')
  const document = readDocument(Buffer.from(text), operation)
  const read = 'code' in document ? document : codecs[operation].readRequest(document.value, { streamed, carriers })
  const prices = new PriceBook(runtime.prices())
  const cap = room ?? outputCap(policy?.output ?? null, outputLimit)
  const losses = new Map<Candidate, readonly string[]>()
  const refused = new Map<Candidate, string>()
  for (const candidate of foreign) {
    const to = candidate.translated?.to ?? operation
    const target = { ...targetOf(candidate, kinds, prices), format: to, streamed, outputCap: cap }
    const destination = { providerId: candidate.provider.id, strict: route?.strict === true, target }
    const whole = 'code' in read || route?.fetchMedia !== true ? read : await asFetched(read, target, candidate)
    const kept = !('code' in whole) && route?.keepResponsesMs != null && whole.settings.store !== false
    const stateless = kept ? withoutState(whole) : whole
    const written = 'code' in stateless ? stateless : writeFor(stateless, operation, codecs[to], destination)
    if ('code' in written) refused.set(candidate, written.message)
    else losses.set(candidate, written.losses)
  }
  return { losses, refused }
}

/** As if all were found that the data plane would fetch. */
async function asFetched(read: Conversation, { format, model }: TranslationTarget, { provider }: Candidate) {
  const { listAddresses, placeMedia } = await import('../../../translate/fetched-media.ts')
  const hosted = provider.kind === 'bedrock' || provider.kind === 'vertex'
  const wanted = listAddresses(read, { format, model, hosted })
  const found = [...wanted].map(([url, { kind }]) => [url, kind === 'image' ? anyImage : anyPdf] as const)
  return placeMedia(read, new Map(found))
}

const anyImage = { type: 'image/png', data: 'iVBORw0KGgo=' }
const anyPdf = { type: 'application/pdf', data: 'JVBERi0=' }

async function explainEmbeddings(
  foreign: readonly Candidate[],
  text: string,
  strict: boolean,
): Promise<ExplainedTranslation> {
  const { writeEmbeddings } = await import('../../../translate/embeddings/index.ts')
  const losses = new Map<Candidate, readonly string[]>()
  const refused = new Map<Candidate, string>()
  for (const candidate of foreign) {
    const { translated, upstreamModel: model } = candidate
    if (translated === null) continue
    const written = writeEmbeddings(Buffer.from(text), translated, { model, strict })
    if ('code' in written) refused.set(candidate, written.message)
    else losses.set(candidate, written.losses)
  }
  return { losses, refused }
}

/** What a client carries opens on the data plane alone. */
const carriers = { seal: () => null, open: () => null }

function targetOf({ provider, upstreamModel: model }: Candidate, kinds: readonly ProviderKind[], prices: PriceBook) {
  const kind = kinds.find((each) => each.kind === provider.kind)
  const vendor = kind === undefined ? null : vendorOf(kind, provider.settings)
  const listed = provider.models.find(({ name }) => name === model)?.outputTokens ?? null
  return {
    model,
    maxOutput: listed ?? prices.find({ provider: provider.name, vendor, model })?.max_output ?? null,
    compatible: provider.kind === 'openai-compatible',
    logprobs: kind?.givesLogprobs?.(provider.settings) !== false,
    vertex: kind?.kind === 'vertex',
    bedrock: kind?.kind === 'bedrock',
    streamOptions: kind?.unsupported(provider).includes('stream_options') !== true,
    reasoningContent: kind?.wantsReasoning?.(provider.settings) === true,
    cacheControl: kind?.takesCacheMarks?.(provider.settings) === true,
    reasoningBudget: kind?.takesReasoningBudget?.(provider.settings) === true,
  }
}
