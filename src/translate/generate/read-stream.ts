import { asArray, asObject, asString, type JsonObject } from '../../core/json/json-value.ts'
import type { ReplyReader } from '../codec.ts'
import type { Citation, TokenLogprob } from '../conversation.ts'
import type { ReplyEvent, Stop } from '../reply.ts'
import { finalReason } from '../stop.ts'
import { readGrounding } from './citations.ts'
import { readFinish } from './finish.ts'
import { readLogprobsResult, splitLogprobs } from './logprobs.ts'
import { type CandidatePart, readAnswerPart } from './read-parts.ts'
import { firstCandidate, lostOfAnswer, lostOfCandidate } from './read-reply.ts'

interface StreamedText {
  number: number
  kind: 'text' | 'reasoning'
  /** Its position in the text of the answer. */
  base: number
  /** A signature has come: it does not cover what follows. */
  signed: boolean
}

/** Texts with citations that are located in the whole answer; no real answer has more. */
const mostCitedTexts = 32

/** Reads chunks whose parts are pieces of texts, or whole calls. Source: wire/streaming.md, section 4. */
export class GenerateStreamReader implements ReplyReader {
  #parts = 0
  #calls = 0
  #started = false
  #open: StreamedText | null = null
  #text = ''
  #stop: Stop | null = null
  #grounding: JsonObject | null = null
  #cited = 0
  /** Citations emitted so far. */
  #citations = 0
  /** Probabilities for each text of the chunk that has not been emitted yet. */
  #logprobs: (readonly TokenLogprob[] | undefined)[] = []
  readonly #dropped = new Set<string>()
  #out: ReplyEvent[] = []

  event(_name: string, data: JsonObject): readonly ReplyEvent[] {
    this.#out = []
    const candidate = firstCandidate(data)
    const [id, model] = [asString(data.responseId), asString(data.modelVersion)]
    if (!this.#started && (candidate !== null || id !== '' || model !== '')) {
      this.#started = true
      this.#out.push({ kind: 'start', id, model })
    }
    this.#grounding = asObject(candidate?.groundingMetadata) ?? this.#grounding
    for (const name of [...lostOfAnswer(data), ...lostOfCandidate(candidate)]) this.#drop(name)
    if (asArray(data.candidates).length > (candidate === null ? 0 : 1)) this.#drop('candidates[1]')
    const parts = asArray(asObject(candidate?.content)?.parts).flatMap(
      (value) => readAnswerPart(asObject(value) ?? {}) ?? [],
    )
    const logprobs = readLogprobsResult(candidate?.logprobsResult)
    const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []))
    this.#logprobs = [...splitLogprobs(logprobs, texts)]
    for (const part of parts) this.#part(part)
    if (logprobs !== undefined && texts.length === 0) this.#endLogprobs()
    this.#stop = readFinish(candidate, data.promptFeedback) ?? this.#stop
    return this.#out
  }

  end(): readonly ReplyEvent[] {
    this.#out = []
    this.#endText()
    if (this.#citations < readGrounding(this.#grounding, this.#text).length) this.#drop('groundingMetadata')
    if (this.#stop !== null) {
      const reason = finalReason(this.#stop.reason, this.#calls > 0)
      this.#out.push({ kind: 'stop', stop: { ...this.#stop, reason } })
    }
    return this.#out
  }

  #part(part: CandidatePart): void {
    if (part.kind === 'call') this.#call(part)
    else if (part.kind === 'image') this.#image(part)
    else this.#say(part)
  }

  #drop(name: string): void {
    if (!this.#dropped.has(name)) this.#out.push({ kind: 'dropped', name })
    this.#dropped.add(name)
  }

  /** A text after a thought or a call is a new part. Its signature is the last one that comes with it. */
  #say({ kind, text, opaque }: Extract<CandidatePart, { kind: 'text' | 'reasoning' }>): void {
    const logprobs = kind === 'text' ? this.#logprobs.shift() : undefined
    if (text === '' && opaque === null && logprobs === undefined) return
    if (this.#open?.kind !== kind || this.#open.signed) {
      this.#endText()
      this.#open = { number: this.#parts++, kind, base: this.#text.length, signed: false }
    }
    const { number: part } = this.#open
    if (kind === 'text' && logprobs !== undefined) this.#out.push({ kind, part, text, logprobs })
    else if (text !== '') this.#out.push({ kind, part, text })
    if (kind === 'text') this.#text += text
    if (opaque === null) return
    this.#out.push({ kind: 'opaque', part, opaque })
    this.#open.signed = true
  }

  /** For a chunk without text. */
  #endLogprobs(): void {
    if (this.#open?.kind === 'text') this.#say({ kind: 'text', text: '', opaque: null })
    else this.#drop('logprobsResult')
  }

  #call({ id, name, arguments: text, opaque }: Extract<CandidatePart, { kind: 'call' }>): void {
    this.#endText()
    const part = this.#parts++
    this.#calls++
    this.#out.push({ kind: 'call', part, id, name, custom: false }, { kind: 'arguments', part, text })
    if (opaque !== null) this.#out.push({ kind: 'opaque', part, opaque })
    this.#out.push({ kind: 'part-end', part })
  }

  #image({ opaque, ...image }: Extract<CandidatePart, { kind: 'image' }>): void {
    this.#endText()
    const part = this.#parts++
    this.#out.push({ ...image, part, ...(opaque !== null && { opaque }) }, { kind: 'part-end', part })
  }

  /** Citations come with the last chunk, while the cited text is still open. */
  #endText(): void {
    const open = this.#open
    if (open === null) return
    for (const citation of this.#citationsOf(open)) {
      this.#citations++
      this.#out.push({ kind: 'citation', part: open.number, citation })
    }
    this.#out.push({ kind: 'part-end', part: open.number })
    this.#open = null
  }

  #citationsOf({ kind, base }: StreamedText): Citation[] {
    if (kind !== 'text' || this.#grounding === null) return []
    if (this.#cited++ === mostCitedTexts) this.#drop('groundingMetadata')
    if (this.#cited > mostCitedTexts) return []
    return readGrounding(this.#grounding, this.#text).filter(({ start }) => start !== null && start >= base)
  }
}
