import type { JsonObject } from '../../core/json/json-value.ts'
import { brokenAnswer } from '../broken-answer.ts'
import type { ReplyWriter, WriteContext } from '../codec.ts'
import { writeDocument } from '../json.ts'
import type { ReplyError, ReplyEvent, Stop } from '../reply.ts'
import { PartSequence } from '../sequence.ts'
import { writeGenerateError } from './errors.ts'
import { writeFinish } from './finish.ts'
import { PartWriter } from './part-writer.ts'
import { writeHead, writeUsage } from './write-reply.ts'

/**
 * Writes events without names, comments or an end mark. For clients that do not ask for `alt=sse`, the gateway turns them into an array
 * (`ArrayElements`). Source: wire/streaming.md, section 4.
 */
export class GenerateStreamWriter implements ReplyWriter {
  readonly #context: WriteContext
  readonly #sequence = new PartSequence()
  #start = { id: '', model: '' }
  #writer: PartWriter | null = null
  #stop: Stop = { reason: 'done', sequence: null, explanation: null }

  constructor(context: WriteContext) {
    this.#context = context
  }

  events(events: readonly ReplyEvent[]): string {
    for (const event of this.#sequence.order(events)) {
      if (event.kind === 'start') this.#start = event
      else if (event.kind === 'stop') this.#stop = event.stop
      else this.#parts.write(event)
    }
    const parts = this.#parts.take()
    if (parts.length === 0) return ''
    const candidate = { content: { role: 'model', parts }, index: 0, ...this.#parts.takeLogprobs() }
    return this.#chunk({ candidates: [candidate] })
  }

  end(): string {
    if (this.#stop.reason === 'broken') return this.error(brokenAnswer)
    for (const event of this.#sequence.end()) this.#parts.write(event)
    this.#parts.end(this.#stop)
    const { grounding } = this.#parts
    const finish = writeFinish(this.#stop)
    const parts = this.#parts.take()
    // As Google's last chunk: its SDKs' chats forget a turn of which any chunk has no parts, as one that was blocked has.
    if (parts.length === 0 && finish.finishReason !== 'SAFETY') parts.push({ text: '' })
    const candidate = {
      content: { role: 'model', parts },
      ...finish,
      index: 0,
      ...this.#parts.takeLogprobs(),
      ...(grounding !== null && { groundingMetadata: grounding }),
    }
    return this.#chunk({ candidates: [candidate], ...writeUsage(this.#context) })
  }

  error(error: ReplyError): string {
    return this.#write(writeGenerateError(error).body)
  }

  get #parts(): PartWriter {
    this.#writer ??= new PartWriter(this.#context, this.#start.id)
    return this.#writer
  }

  #chunk(members: JsonObject): string {
    return this.#write({ ...members, ...writeHead(this.#start.id, this.#start.model, this.#context) })
  }

  #write(body: JsonObject): string {
    return `data: ${writeDocument(body).toString()}\r\n\r\n`
  }
}
