import type { JsonObject } from '../../core/json/json-value.ts'
import type { ReplyWriter, WriteContext } from '../codec.ts'
import type { ReplyError, ReplyEvent, Stop } from '../reply.ts'
import { PartSequence } from '../sequence.ts'
import { ItemWriter } from './item-writer.ts'
import { ResponseShell } from './response-shell.ts'

/** Source: wire/streaming.md, section 2. */
export class ResponsesStreamWriter implements ReplyWriter {
  readonly #context: WriteContext
  readonly #sequence = new PartSequence()
  #start = { id: '', model: '' }
  #begun: { shell: ResponseShell; items: ItemWriter } | null = null
  #stop: Stop = { reason: 'done', sequence: null, explanation: null }
  #number = 0
  #written = ''

  constructor(context: WriteContext) {
    this.#context = context
  }

  events(events: readonly ReplyEvent[]): string {
    for (const event of this.#sequence.order(events)) {
      if (event.kind === 'start') this.#start = event
      else if (event.kind === 'stop') this.#stop = event.stop
      // Nothing is written before there is content: until then another provider may still answer.
      else if ('part' in event && event.kind !== 'part-end') this.#begin().items.take(event)
      else if (event.kind === 'part-end') this.#begun?.items.take(event)
    }
    return this.#take()
  }

  end(): string {
    const { shell, items } = this.#begin()
    for (const event of this.#sequence.end()) items.take(event)
    const response = shell.end(items.end(this.#stop), this.#stop, this.#context.usage())
    this.#emit(`response.${response.status}`, { response })
    return this.#take()
  }

  /** The response keeps its id, and sequence numbers continue. */
  error(error: ReplyError): string {
    const { shell, items } = this.#begin()
    this.#emit('response.failed', { response: shell.fail(items.output, error, this.#context.usage()) })
    return this.#take()
  }

  #begin(): { shell: ResponseShell; items: ItemWriter } {
    if (this.#begun !== null) return this.#begun
    const shell = new ResponseShell(this.#context, this.#start.id, this.#start.model)
    const items = new ItemWriter(this.#context, shell.ids, (type, members) => this.#emit(type, members))
    this.#begun = { shell, items }
    const response = shell.begin()
    this.#emit('response.created', { response })
    this.#emit('response.in_progress', { response })
    return this.#begun
  }

  #emit(type: string, members: JsonObject): void {
    const data = JSON.stringify({ type, sequence_number: this.#number, ...members })
    this.#number++
    this.#written += `event: ${type}\ndata: ${data}\n\n`
  }

  #take(): string {
    const written = this.#written
    this.#written = ''
    return written
  }
}
