import type { JsonObject } from '../../core/json/json-value.ts'
import { unsignedMark } from '../../core/secrets/sealed-mark.ts'
import { packReasoning } from '../carried-reasoning.ts'
import type { WriteContext } from '../codec.ts'
import type { Opaque, TokenLogprob } from '../conversation.ts'
import { clientToolName, mintId } from '../ids.ts'
import { embedJson } from '../json.ts'
import type { ReplyEvent, Stop } from '../reply.ts'
import { areArguments } from '../stop.ts'
import { writeSealed } from './carriers.ts'
import { type PlacedCitation, writeGrounding } from './citations.ts'
import { writeLogprobsResult } from './logprobs.ts'

interface OpenCall {
  id: string
  name: string
  text: string
}

/** Builds the parts of an answer from its events. Calls are complete in this format, so they wait for their end. */
export class PartWriter {
  readonly #context: WriteContext
  readonly #seed: string
  readonly #showsThoughts: boolean
  #parts: JsonObject[] = []
  #call: OpenCall | null = null
  #calls = 0
  #reasoning = ''
  #opaque: Opaque | null = null
  /** Another provider's reasoning, carried by the call that it led to. */
  #carried: string[] = []
  #text = ''
  #logprobs: readonly TokenLogprob[] | null = null
  #from = 0
  readonly #citations: PlacedCitation[] = []
  #open: PlacedCitation[] = []

  constructor(context: WriteContext, answerId: string) {
    this.#context = context
    this.#seed = answerId === '' ? context.requestId : answerId
    this.#showsThoughts = context.conversation.settings.reasoning?.visible === true
  }

  /** The parts since the last call of this. */
  take(): JsonObject[] {
    const parts = this.#parts
    this.#parts = []
    return parts
  }

  get grounding(): JsonObject | null {
    return writeGrounding([...this.#citations, ...this.#open], this.#text)
  }

  /** Members of the candidate: the probabilities of its tokens since the last call of this. */
  takeLogprobs(): JsonObject {
    if (this.#logprobs === null) return {}
    const logprobsResult = writeLogprobsResult(this.#logprobs)
    this.#logprobs = null
    return { logprobsResult }
  }

  write(event: ReplyEvent): void {
    switch (event.kind) {
      case 'text':
        if (event.logprobs !== undefined) this.#keepLogprobs(event.logprobs)
        this.#say(event.text)
        break
      case 'refusal':
        this.#say(event.text)
        break
      case 'reasoning':
        this.#think(event.text)
        break
      case 'opaque':
        this.#opaque = event.opaque
        break
      case 'call':
        this.#call = { id: event.id ?? mintId('call_', this.#seed, this.#calls), name: event.name, text: '' }
        this.#calls++
        break
      case 'arguments':
        if (this.#call !== null) this.#call.text += event.text
        break
      case 'citation':
        this.#open.push({ citation: event.citation, from: this.#from, to: this.#text.length })
        break
      case 'part-end':
        this.#endPart()
    }
  }

  /** A refusal without text gets the provider's explanation, if there is one; the finish reason says the rest. */
  end({ reason, explanation }: Stop): void {
    if (reason === 'refused' && this.#text === '' && explanation !== null) this.#say(explanation)
  }

  #keepLogprobs(logprobs: readonly TokenLogprob[]): void {
    if (this.#context.conversation.settings.logprobs === null) return
    this.#logprobs = this.#logprobs === null ? logprobs : this.#logprobs.concat(logprobs)
  }

  #say(text: string): void {
    if (text === '') return
    this.#text += text
    const before = this.#parts.at(-1)
    if (typeof before?.text === 'string' && Object.keys(before).length === 1) this.#parts.pop()
    const joined = typeof before?.text === 'string' && Object.keys(before).length === 1 ? before.text + text : text
    this.#parts.push({ text: joined })
  }

  #think(text: string): void {
    this.#reasoning += text
    if (this.#showsThoughts && text !== '') this.#parts.push({ text, thought: true })
  }

  #endPart(): void {
    const opaque = this.#opaque
    this.#opaque = null
    if (this.#call !== null) this.#endCall(this.#call, opaque)
    else if (opaque !== null) {
      const sealed = this.#context.carriers.seal(packReasoning(opaque, this.#reasoning))
      if (sealed !== null) this.#carried.push(sealed)
    }
    this.#reasoning = ''
    for (const placed of this.#open) this.#citations.push({ ...placed, to: this.#text.length })
    this.#open = []
    this.#from = this.#text.length
  }

  /** A call cut off by the limit is dropped. */
  #endCall({ id, name, text }: OpenCall, opaque: Opaque | null): void {
    this.#call = null
    if (!areArguments(text)) return
    const { conversation, carriers } = this.#context
    const own = opaque === null ? null : carriers.seal(opaque)
    // Of parallel calls only the first is signed.
    const sealed = writeSealed(own === null ? this.#carried : [own]) ?? (this.#calls === 1 ? unsignedMark : null)
    this.#carried = []
    const args = text.trim() === '' ? {} : embedJson(text)
    const functionCall = { id, name: clientToolName(conversation, name), args }
    this.#parts.push(sealed === null ? { functionCall } : { functionCall, thoughtSignature: sealed })
  }
}
