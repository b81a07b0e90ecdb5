import { type Fault, fault } from '../../core/errors.ts'
import type { FormatName } from '../../core/format.ts'
import { parseObject } from '../../core/json/json-value.ts'
import { applyEdits } from '../../lanes/patch-body.ts'
import type { Translation } from '../../routing/candidates.ts'
import type { SnapshotRoute } from '../../store/configuration/snapshot.ts'
import { embeddingCodec, type WrittenEmbeddings, writeEmbeddings } from '../../translate/embeddings/index.ts'
import { codecs } from '../../translate/index.ts'
import { estimateCut } from '../answer/charge.ts'
import type { Call } from '../request/call.ts'
import type { Gated } from '../upstream/answer-consumer.ts'
import type { Leg, LegTarget, LegTranslation, Passing } from '../upstream/leg.ts'
import { tooLarge } from './call-translation.ts'
import { makeForeignLeg } from './foreign-leg.ts'
import { LossList } from './loss-list.ts'
import { answerError, clientHead, unreadable } from './translated-answer.ts'

/** One target's side of an embeddings call to a provider with the other lane's form. */
export class EmbeddingLeg implements LegTranslation {
  readonly from: FormatName
  readonly to: FormatName
  readonly reasoning = null
  readonly #call: Call
  readonly #written: WrittenEmbeddings
  readonly #losses: LossList

  private constructor(call: Call, { from, to }: Translation, written: WrittenEmbeddings) {
    this.from = from
    this.to = to
    this.#call = call
    this.#written = written
    this.#losses = new LossList(written.losses)
  }

  /** A fault: the provider cannot serve it. */
  static write(call: Call, translation: Translation, model: string, route: SnapshotRoute | null): EmbeddingLeg | Fault {
    const { bytes } = call.body
    const limit = call.gateway.settings.translateLimit
    if (bytes.length > limit) return tooLarge(bytes.length, limit)
    const edits = call.content?.edits ?? []
    const read = edits.length === 0 ? bytes : applyEdits(bytes, edits)
    const written = writeEmbeddings(read, translation, { model, strict: route?.strict === true })
    return 'code' in written ? written : new EmbeddingLeg(call, translation, written)
  }

  get losses(): readonly string[] {
    return this.#losses.names
  }

  get lossHeader(): string | null {
    return this.#losses.header()
  }

  makeLeg(destination: LegTarget): Leg {
    const body = Buffer.from(JSON.stringify(this.#written.body))
    return makeForeignLeg(this.#call, destination, { format: this.to, form: 'vectors', body, lease: null })
  }

  withoutSigned(): null {
    return null
  }

  afterPause(): null {
    return null
  }

  afterStream(): null {
    return null
  }

  answer(leg: Leg, gated: Passing): Passing | Fault {
    const answer = gated.kind === 'whole' ? parseObject(gated.body) : null
    const reply = answer === null ? null : embeddingCodec(this.to).readReply(answer)
    const { request } = this.#written
    if (reply === null) return unreadable
    if (reply.vectors.length !== request.inputs.length) return incomplete
    const used = leg.reader.usage() ?? estimateCut(leg.call, null)
    const context = { model: leg.candidate.upstreamModel, inputTokens: used?.input ?? 0 }
    const written = embeddingCodec(this.from).writeReply(reply, request, context)
    return { kind: 'whole', head: clientHead(leg.call, false), body: Buffer.from(JSON.stringify(written)) }
  }

  error(leg: Leg, status: number, body: Buffer, retryAfterMs: number | null): Extract<Gated, { kind: 'error' }> {
    return answerError({ client: codecs[this.from], upstream: codecs[this.to] }, leg, status, body, retryAfterMs)
  }

  stage(): never {
    throw new Error('vectors are not streamed')
  }
}

const incomplete = fault('provider_bad_response', 'The provider did not answer with one vector for each text.')
