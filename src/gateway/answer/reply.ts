import type { ServerResponse } from 'node:http'
import { AnswerBody } from './answer-body.ts'

/** What of an answer has gone out to the client. */
export class ClientReply {
  readonly #response: ServerResponse
  #body: AnswerBody | null = null
  /** Runs while a silent stream is kept alive. */
  keepAlive: { stop(): void } | null = null
  /** The head has gone out with 200 before the provider answered: what follows can only end in an error event. */
  opened = false
  /** Monotonic moment of the last bytes, and whether they ended an event: keep-alives go only between events. */
  lastWriteAt = 0
  betweenEvents = true

  constructor(response: ServerResponse) {
    this.#response = response
  }

  /** Of an answer of unknown length, once its head is written. */
  get body(): AnswerBody {
    this.#body ??= new AnswerBody(this.#response)
    return this.#body
  }
}
