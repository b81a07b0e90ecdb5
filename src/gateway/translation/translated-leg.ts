import { promptTokens } from '../../core/cost/prompt-tokens.ts'
import type { Fault } from '../../core/errors.ts'
import type { FormatName } from '../../core/format.ts'
import type { TokenUsage } from '../../core/record.ts'
import { addUsage, addUsageDetail } from '../../lanes/usage-sum.ts'
import type { Candidate } from '../../routing/candidates.ts'
import type { SnapshotRoute } from '../../store/configuration/snapshot.ts'
import type { Carriers, Codec, WriteContext } from '../../translate/codec.ts'
import type { Conversation } from '../../translate/conversation.ts'
import type { DocumentPiece } from '../../translate/json.ts'
import type { PausedBlocks } from '../../translate/pausing.ts'
import type { ReplyUsage } from '../../translate/reply.ts'
import { estimateTokens } from '../answer/charge.ts'
import type { AnswerStage } from '../answer/stage.ts'
import type { WrittenAnswer } from '../answer/written-tokens.ts'
import type { BodyLease } from '../request/body-memory.ts'
import type { Call } from '../request/call.ts'
import { openKeeping } from '../responses/keep-response.ts'
import type { LiveProvider } from '../thread/read-model.ts'
import type { Gated } from '../upstream/answer-consumer.ts'
import { credentialIdOf, type Leg, type LegTarget, type LegTranslation, type Passing } from '../upstream/leg.ts'
import type { AnswerTranslation } from './answer-translation.ts'
import { makeForeignLeg } from './foreign-leg.ts'
import { LossList } from './loss-list.ts'
import { PausedAnswer } from './paused-answer.ts'
import type { TextTurns } from './text-turns.ts'
import { answerError, translateCount, translateWhole } from './translated-answer.ts'
import { TranslationStage } from './translation-stage.ts'
import { TurnRecorder } from './turn-recorder.ts'
import { ownerOf, signsReasoning, vaultOf } from './vault.ts'

/** The destination of a translated request. */
export interface AskedTarget {
  provider: LiveProvider
  candidate: Candidate
  credentialId: string | null
  route: SnapshotRoute | null
}

interface TranslatedParts {
  call: Call
  client: Codec
  upstream: Codec
  conversation: Conversation
  target: AskedTarget
  carriers: Carriers
  /** The client's format has a place for sealed reasoning, and the client sends it back. */
  carries: boolean
  /** Null: the client's format carries the reasoning of text turns itself. */
  texts: TextTurns | null
  losses: readonly string[]
  reasoning: LegTranslation['reasoning']
  /** Writes the request without reasoning that its provider signed; null: it contains none. */
  writeUnsigned: (() => LegTranslation | Fault) | null
  /** Called when the provider has accepted the request as written. */
  answered(): void
  /** The input that is kept with the answer; null: the answer is not kept. */
  asked: { input: unknown; pieces: readonly DocumentPiece[] } | null
  /** The provider is only asked to count tokens. */
  counts: boolean
  body: Buffer
  /** The reused memory that holds the body, if any. */
  lease: BodyLease | null
}

/** One target's side of a translated call: the request in the provider's format, and the translation of its answer. */
export class TranslatedLeg implements LegTranslation, AnswerTranslation {
  readonly from: FormatName
  readonly to: FormatName
  readonly client: Codec
  readonly upstream: Codec
  readonly #parts: TranslatedParts
  readonly #losses: LossList
  readonly #paused: PausedAnswer | null
  #stage: TranslationStage | null = null
  /** Of the client's conversation: both it and an answer may have thousands of calls. */
  #callIds: ReadonlySet<string> | null = null

  constructor(parts: TranslatedParts) {
    this.#parts = parts
    this.client = parts.client
    this.upstream = parts.upstream
    this.from = parts.client.format
    this.to = parts.upstream.format
    this.#losses = new LossList(parts.losses)
    this.#paused = PausedAnswer.openFor(parts)
  }

  get losses(): readonly string[] {
    return this.#losses.names
  }

  get reasoning(): LegTranslation['reasoning'] {
    return this.#parts.reasoning
  }

  get lossHeader(): string | null {
    return this.#losses.header()
  }

  hasCall(id: string): boolean {
    this.#callIds ??= callIdsIn(this.#parts.conversation)
    return this.#callIds.has(id)
  }

  /** Records what was lost in the answer. */
  lose(name: string): void {
    this.#losses.add(name)
  }

  makeLeg(destination: LegTarget): Leg {
    const { body, lease } = this.#parts
    return this.#makeLeg(destination, body, lease)
  }

  #makeLeg(destination: LegTarget, body: Buffer, lease: BodyLease | null): Leg {
    const { call, counts } = this.#parts
    const form = counts ? 'count' : call.inspection.streamed ? 'streamed' : 'whole'
    return makeForeignLeg(call, destination, { format: this.to, form, body, lease })
  }

  withoutSigned(gated: Gated): LegTranslation | null {
    const { writeUnsigned } = this.#parts
    if (writeUnsigned === null || gated.kind !== 'error' || gated.head.status !== 400) return null
    if (!refusesSigned.test(gated.body.toString('utf8', 0, mostRead))) return null
    const written = writeUnsigned()
    return 'code' in written ? null : written
  }

  openBlocks(): PausedBlocks | null {
    return this.#paused?.openBlocks() ?? null
  }

  afterPause(leg: Leg, gated: Gated): Promise<Leg | null> | null {
    const blocks = gated.kind === 'whole' ? this.#paused?.read(gated.body) : null
    return blocks == null ? null : this.goOn(leg, blocks)
  }

  afterStream(): Promise<Leg | null> | null {
    return this.#stage?.afterPause() ?? null
  }

  async goOn(leg: Leg, blocks: readonly string[]): Promise<Leg | null> {
    const rest = (await this.#paused?.askForRest(leg, blocks)) ?? null
    return rest === null ? null : { ...this.#makeLeg(leg, rest.body, null), earlier: rest.earlier }
  }

  /** Translates an answer at its gate for the client. */
  answer(leg: Leg, gated: Passing): Passing | Fault {
    this.#parts.answered()
    if (this.#parts.counts) return translateCount(this, leg, gated)
    return translateWhole(this, leg, this.#paused?.join(gated) ?? gated)
  }

  error(leg: Leg, status: number, body: Buffer, retryAfterMs: number | null): Extract<Gated, { kind: 'error' }> {
    return answerError(this, leg, status, body, retryAfterMs)
  }

  stage(leg: Leg, inner: readonly AnswerStage[]): AnswerStage {
    this.#stage = new TranslationStage(this, leg, inner)
    return this.#stage
  }

  openRecorder({ call, provider, credentialIndex, candidate }: Leg): TurnRecorder | null {
    const { carries, texts } = this.#parts
    if (carries || !signsReasoning(this.to, candidate.upstreamModel)) return null
    const owner = ownerOf(this.to, {
      providerId: provider.row.id,
      credentialId: credentialIdOf({ provider, credentialIndex }),
      model: candidate.upstreamModel,
    })
    const vault = vaultOf(call.gateway)
    return new TurnRecorder({
      call: (id, turn) => vault.keep(call, owner, id, turn),
      text: (text, turn) => {
        const name = texts?.nameAnswer(text) ?? null
        if (name !== null) vault.keep(call, owner, name, turn)
      },
    })
  }

  writeContext(leg: () => Leg, written: WrittenAnswer, pieces: readonly DocumentPiece[] = []): WriteContext {
    const { call, conversation, carriers, body, target, asked } = this.#parts
    const lifeMs = target.route?.keepResponsesMs ?? 0
    return {
      requestId: call.id,
      created: Math.floor(call.arrival.receivedAt / 1000),
      conversation,
      estimatedInput: promptTokens(body),
      usage: () => usageSoFar(leg(), body, written),
      reasoningText: target.route?.reasoningText !== false,
      carriers,
      ...(asked !== null && { kept: openKeeping(call, lifeMs, asked, pieces) }),
    }
  }
}

function callIdsIn({ turns }: Conversation): ReadonlySet<string> {
  const ids = new Set<string>()
  for (const { parts } of turns)
    for (const part of parts) if (part.kind === 'call' && part.id !== null) ids.add(part.id)
  return ids
}

const mostRead = 16 * 1024

/**
 * How Anthropic, OpenAI and Gemini refuse reasoning that is sent back: it was changed, or made for another model, prefix or organisation.
 * Source: wire/translate.md, section 7.
 */
const refusesSigned =
  /signature|_binding_mismatch|thinking. blocks? in the latest|invalid_encrypted_content|encrypted content/i

/** The usage that the provider reported, or else the estimate that the record will have. */
function usageSoFar(leg: Leg, body: Buffer, written: WrittenAnswer): ReplyUsage | null {
  const { earlier, reader } = leg
  const last = usageOfPart(leg, body, written)
  const tokens = addUsage(earlier?.tokens ?? null, last)
  return tokens === null ? null : { tokens, detail: addUsageDetail(earlier?.detail ?? null, reader.usageDetail()) }
}

function usageOfPart({ call, reader }: Leg, body: Buffer, written: WrittenAnswer): TokenUsage | null {
  const tokens = reader.usage() ?? estimateTokens(call, null, written)
  return tokens?.source === 'estimated' ? { ...tokens, input: promptTokens(body) } : tokens
}
