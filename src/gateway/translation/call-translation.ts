import { type Fault, fault } from '../../core/errors.ts'
import type { FormatName } from '../../core/format.ts'
import type { JsonObject } from '../../core/json/json-value.ts'
import { formatBytes } from '../../core/text/format-bytes.ts'
import { applyEdits } from '../../lanes/patch-body.ts'
import type { Translation } from '../../routing/candidates.ts'
import type { Codec } from '../../translate/codec.ts'
import type { Conversation } from '../../translate/conversation.ts'
import { readCountRequest, writeCountRequest } from '../../translate/counts.ts'
import { listAddresses, placeMedia } from '../../translate/fetched-media.ts'
import { codecs } from '../../translate/index.ts'
import {
  type DocumentPiece,
  type JsonDocument,
  joinPieces,
  readDocument,
  writeRequestPieces,
} from '../../translate/json.ts'
import { withoutState } from '../../translate/kept-state.ts'
import { modelFacts } from '../../translate/model-facts.ts'
import { listOpaque } from '../../translate/own-reasoning.ts'
import { ReframedTurns } from '../../translate/plain-turns.ts'
import { writeFor } from '../../translate/write-for.ts'
import type { BodyLease } from '../request/body-memory.ts'
import type { Call } from '../request/call.ts'
import { outOfMemory } from '../request/memory-budget.ts'
import { isKept } from '../responses/keep-response.ts'
import type { LiveProvider } from '../thread/read-model.ts'
import type { LegTranslation } from '../upstream/leg.ts'
import { openCarriers } from './carriers.ts'
import type { FetchedMedia } from './fetch-media.ts'
import { attachReasoning, bareCalls } from './recall.ts'
import { refusedAt } from './refused-reasoning.ts'
import { attachToTexts, TextTurns } from './text-turns.ts'
import { type AskedTarget, TranslatedLeg } from './translated-leg.ts'
import { ownerOf, signsReasoning, vaultOf } from './vault.ts'
import { lostHeaders } from './vendor-headers.ts'

/** A request for providers of other formats: parsed once, and written for each provider that is asked. */
export class CallTranslation {
  readonly #call: Call
  readonly #codec: Codec
  readonly conversation: Conversation
  /** Long texts that were cut out of the body; the conversation does not contain them. */
  readonly pieces: JsonDocument['pieces']
  /** The bytes that the conversation was parsed from. */
  readonly #bytes: Buffer
  /** Media fetched from the request's URLs. */
  readonly #fetched = new Map<string, FetchedMedia>()
  #unfetched: Fault | null = null

  private constructor(
    call: Call,
    codec: Codec,
    read: { conversation: Conversation; document: JsonDocument; bytes: Buffer },
  ) {
    this.#call = call
    this.#codec = codec
    this.conversation = read.conversation
    this.pieces = read.document.pieces
    this.#bytes = read.bytes
  }

  /** A fault: no provider of another format can serve the call. */
  static open(call: Call): CallTranslation | Fault {
    const { endpoint } = call.match
    const format = endpoint.format ?? endpoint.counts
    if (format === undefined) return noFormat
    const codec = codecs[format]
    const limit = call.gateway.settings.translateLimit
    const { bytes: sent } = call.body
    if (sent.length > limit) return tooLarge(sent.length, limit)
    const edits = call.content?.edits ?? []
    const bytes = edits.length === 0 ? sent : applyEdits(sent, edits)
    const document = readDocument(bytes, format)
    if ('code' in document) return document
    const context = { streamed: call.inspection.streamed, carriers: openCarriers(call, null) }
    const body = endpoint.counts === undefined ? document.value : readCountRequest(format, document.value)
    const conversation = codec.readRequest(body, context)
    return 'code' in conversation ? conversation : new CallTranslation(call, codec, { conversation, document, bytes })
  }

  /** Whether clients of this format send sealed reasoning back by themselves. */
  get #carries(): boolean {
    if (this.#codec.format === 'responses') return this.conversation.settings.reasoning?.encrypted === true
    return this.#codec.format !== 'chat'
  }

  /** Null: the client's format carries the reasoning of text turns itself. */
  get #texts(): TextTurns | null {
    const { format } = this.#codec
    if (this.#carries || (format !== 'chat' && format !== 'responses')) return null
    return new TextTurns(this.#bytes, format, this.#call.key.environmentId)
  }

  /** Adds the reasoning that preceded calls and texts, if it is kept here and not by the client. */
  #recall(to: FormatName, target: AskedTarget): Recalled | Promise<Recalled> {
    const { conversation, pieces } = this
    const none = { conversation, pieces, state: null }
    if (this.#carries || !signsReasoning(to, target.candidate.upstreamModel)) return none
    const isNeeded = reasons(conversation, target.candidate.upstreamModel)
    // An older Claude gets none back while it does not think.
    if (!isNeeded && to === 'messages' && modelFacts(target.candidate.upstreamModel).reasoning.control === 'budget')
      return none
    const calls = bareCalls(conversation)
    const texts = isNeeded && to !== 'chat' ? (this.#texts?.nameTurns(conversation) ?? []) : []
    return calls.length + texts.length === 0 ? none : this.#recallKept(to, target, { calls, texts, isNeeded })
  }

  async #recallKept(
    to: FormatName,
    { provider, candidate, credentialId }: AskedTarget,
    {
      calls,
      texts,
      isNeeded,
    }: { calls: readonly string[]; texts: ReturnType<TextTurns['nameTurns']>; isNeeded: boolean },
  ): Promise<Recalled> {
    const { conversation, pieces } = this
    const { gateway, key } = this.#call
    const owner = ownerOf(to, { providerId: provider.row.id, credentialId, model: candidate.upstreamModel })
    const find = (ids: readonly string[], needed: boolean) => vaultOf(gateway).find(key.projectId, owner, ids, needed)
    // A text may be sent without its reasoning, so it is not worth a long wait.
    const [kept, keptTexts] = await Promise.all([
      find(calls, isNeeded),
      find(
        texts.map(({ name }) => name),
        false,
      ),
    ])
    const found = new Map([...kept].flatMap(([id, turn]) => (turn === null ? [] : [[id, turn] as const])))
    const foundTexts = new Map(
      texts.flatMap(({ index, name }) => {
        const turn = keptTexts.get(name) ?? null
        return turn === null ? [] : [[index, turn] as const]
      }),
    )
    // Most servers with chat sign nothing, so that nothing is missing.
    const isMissing = isNeeded && to !== 'chat' && kept.size < calls.length
    const state = isMissing ? 'missing' : found.size + foundTexts.size > 0 ? 'attached' : null
    return { ...attachToTexts(attachReasoning(conversation, found), foundTexts, pieces), state }
  }

  /** The request for a provider. A fault: the provider cannot serve it. */
  writeFor({ to }: Translation, target: AskedTarget): LegTranslation | Fault | Promise<LegTranslation | Fault> {
    const counts = this.#call.match.endpoint.counts !== undefined
    if (counts && !canCount(to, target.provider)) return noCount
    const recalled = this.#recall(to, target)
    if (recalled instanceof Promise || target.route?.fetchMedia === true)
      return this.#writeFetched(recalled, to, target)
    return this.#write(recalled, to, target, true)
  }

  async #writeFetched(
    recalling: Recalled | Promise<Recalled>,
    to: FormatName,
    target: AskedTarget,
  ): Promise<LegTranslation | Fault> {
    const recalled = await recalling
    const fetched = target.route?.fetchMedia === true ? await this.#fetchMedia(recalled.conversation, to, target) : null
    if (fetched !== null && 'code' in fetched) return fetched
    return this.#write(fetched === null ? recalled : { ...recalled, conversation: fetched }, to, target, true)
  }

  /** Adds the bytes of images and documents that the provider does not fetch itself. Each is fetched once. */
  async #fetchMedia(
    conversation: Conversation,
    format: FormatName,
    { candidate, provider }: AskedTarget,
  ): Promise<Conversation | Fault> {
    const hosted = provider.kind.kind === 'bedrock' || provider.kind.kind === 'vertex'
    const wanted = listAddresses(conversation, { format, model: candidate.upstreamModel, hosted })
    for (const url of this.#fetched.keys()) wanted.delete(url)
    // It is not fetched again for the next target.
    if (wanted.size > 0 && this.#unfetched !== null) return this.#unfetched
    if (wanted.size > 0) {
      const { gateway, trace, body } = this.#call
      const { fetchMedia } = await import('./fetch-media.ts')
      const found = await fetchMedia(gateway.transport, wanted, gateway.memoryBudget)
      if (!(found instanceof Map)) {
        this.#unfetched = found
        return found
      }
      for (const [url, media] of found) this.#fetched.set(url, media)
      const bytes = [...this.#fetched.values()].reduce((sum, { data }) => sum + data.length, 0)
      if (!gateway.memoryBudget.reserve(body, body.bytes.length + bytes)) return outOfMemory()
      trace.note('media', `Fetched ${describeCount(found.size)} by address for ${provider.row.name}.`)
    }
    return this.#fetched.size === 0 ? conversation : placeMedia(conversation, this.#fetched)
  }

  /** `signed`: include the reasoning that the provider signed. */
  #write(recalled: Recalled, to: FormatName, target: AskedTarget, signed: boolean): LegTranslation | Fault {
    const codec = codecs[to]
    const { provider, candidate, route } = target
    const { row, kind } = provider
    const refused = refusedAt(this.#call.gateway)
    const counts = this.#call.match.endpoint.counts !== undefined
    const kept = !counts && isKept(this.#call, route, recalled.conversation)
    const conversation = kept ? withoutState(recalled.conversation) : recalled.conversation
    const written = writeFor(conversation, this.#codec.format, codec, {
      providerId: signed ? row.id : null,
      isRefused: (opaque) => refused.has(row.id, opaque),
      strict: route?.strict === true,
      target: {
        format: to,
        model: candidate.upstreamModel,
        streamed: this.#call.inspection.streamed,
        maxOutput: maxOutputOf(this.#call, target),
        outputCap: this.#call.outputCap,
        compatible: kind.kind === 'openai-compatible',
        logprobs: kind.givesLogprobs?.(row.settings) !== false,
        vertex: kind.kind === 'vertex',
        bedrock: kind.kind === 'bedrock',
        streamOptions: !kind.unsupported(row).includes('stream_options'),
        reasoningContent: kind.wantsReasoning?.(row.settings) === true,
        cacheControl: kind.takesCacheMarks?.(row.settings) === true,
        reasoningBudget: kind.takesReasoningBudget?.(row.settings) === true,
      },
    })
    if ('code' in written) return written
    return new TranslatedLeg({
      call: this.#call,
      client: this.#codec,
      upstream: codec,
      conversation: written.conversation,
      target,
      carriers: openCarriers(this.#call, provider.row.id),
      carries: this.#carries,
      // Reasoning kept for a conversation whose reasoning was refused would be refused with every later turn.
      texts: written.reasoning === 'stripped' ? null : this.#texts,
      losses: [...written.losses, ...lostHeaders(this.#call.arrival.request.rawHeaders, to)],
      asked: kept ? this.#asked() : null,
      reasoning: written.reasoning === 'stripped' ? 'stripped' : (recalled.state ?? written.reasoning),
      writeUnsigned:
        signed && listOpaque(written.conversation).length > 0 ? () => this.#write(recalled, to, target, false) : null,
      answered: () => {
        if (!signed) refused.add(row.id, listOpaque(recalled.conversation))
      },
      counts,
      ...this.#join(counts ? countBody(to, written.body, target) : written.body, recalled.pieces),
    })
  }

  /** The input that is kept with the answer, parsed again because the conversation's document lacks its plain turns. */
  #asked(): { input: unknown; pieces: readonly DocumentPiece[] } | null {
    const document = readDocument(this.#bytes)
    return 'code' in document ? null : { input: document.value.input, pieces: document.pieces }
  }

  /** Puts a large body into reused memory, as is done with the client's own. */
  #join(value: JsonObject, cut: readonly DocumentPiece[]): { body: Buffer; lease: BodyLease | null } {
    const pieces = writeRequestPieces(value, cut)
    const { gateway, body } = this.#call
    const size = pieces.reduce(
      (sum, piece) => sum + (typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length),
      0,
    )
    const lease = gateway.bodyMemory.lease(size)
    if (lease === null) return { body: joinPieces(pieces), lease }
    body.written = [...body.written, lease]
    for (const piece of pieces) {
      if (typeof piece === 'string') lease.addText(piece)
      else if (piece instanceof ReframedTurns) lease.addWritten(piece)
      else lease.add(piece)
    }
    return { body: lease.join(), lease }
  }
}

/** Gemini's own API wants the whole request as a member; Vertex wants its members. */
function countBody(to: FormatName, body: JsonObject, { candidate, provider }: AskedTarget): JsonObject {
  const isWrapped = to === 'generate' && provider.kind.kind !== 'vertex'
  return writeCountRequest(to, body, isWrapped ? { model: candidate.upstreamModel } : null)
}

/** Of the servers with OpenAI's API, only OpenAI's own counts tokens. */
export function canCount(to: FormatName, { kind }: LiveProvider): boolean {
  if (to === 'chat') return false
  if (to === 'responses') return kind.kind === 'openai' || kind.kind === 'azure-openai'
  return kind.serves?.includes('count_tokens') ?? true
}

const noCount = fault('not_translatable', 'This provider has no call that counts tokens.')

const noFormat = fault(
  'not_translatable',
  'This call is not translated: only calls that ask a model for an answer, or count the tokens of such a call, are.',
)

function describeCount(count: number): string {
  return count === 1 ? 'one file' : `${count} files`
}

interface Recalled {
  conversation: Conversation
  pieces: readonly DocumentPiece[]
  /** null: nothing was looked up, or the model did no reasoning. */
  state: 'attached' | 'missing' | null
}

/** Whether the model reasons before its calls: it was asked to, or always does. */
function reasons({ settings }: Conversation, model: string): boolean {
  const { reasoning } = modelFacts(model)
  if (reasoning.control === 'none') return false
  const asked = settings.reasoning
  return !reasoning.canDisable || (asked !== null && asked.effort !== 'none' && asked.budget !== 0)
}

export function tooLarge(bytes: number, limit: number): Fault {
  const text = `The body has ${formatBytes(bytes)}, and at most ${formatBytes(limit)} are translated (gateway.translate_limit). Send less, or call the lane whose format the provider has.`
  return fault('request_too_large', text)
}

/** From the provider's own list of models, else from the price table. */
function maxOutputOf({ gateway }: Call, { provider, candidate }: AskedTarget): number | null {
  const { upstreamModel: model } = candidate
  const listed = provider.row.models.find(({ name }) => name === model)?.outputTokens ?? null
  return listed ?? gateway.model.priceOf(provider, model)?.max_output ?? null
}
