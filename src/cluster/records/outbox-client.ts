import type { MessagePort } from 'node:worker_threads'
import type { OutboxAct, OutboxQuestion, OutboxQuestions, OutboxReply } from '../../store/replica/outbox-types.ts'
import type { ObjectsQuestion, ObjectsReply } from '../../store/replica/shared-change.ts'

/** Asks the store's outbox, over a port that closes with either thread. */
export class OutboxClient {
  readonly #port: MessagePort
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>()
  #lastId = 0
  #closed = false

  /** `onQuestion`: questions of the store to all nodes. */
  constructor(port: MessagePort, onQuestion: (question: ObjectsQuestion) => Promise<ObjectsReply>) {
    this.#port = port
    port.on('message', (message: OutboxReply | ObjectsQuestion) => {
      if (!('question' in message)) return this.#settle(message)
      void onQuestion(message).then((reply) => port.postMessage(reply))
    })
    port.on('close', () => {
      this.#closed = true
      for (const pending of this.#pending.values()) pending.reject(noStore())
      this.#pending.clear()
    })
    // The port must not keep the thread alive.
    port.unref()
  }

  async ask<Act extends OutboxAct>(
    act: Act,
    input: OutboxQuestions[Act]['input'],
  ): Promise<OutboxQuestions[Act]['output']> {
    // Nobody would receive or answer a message on a closed port.
    if (this.#closed) throw noStore()
    const id = ++this.#lastId
    const pending = Promise.withResolvers<unknown>()
    this.#pending.set(id, pending)
    // The types of act and input belong together, and so do those of the answer.
    this.#port.postMessage({ id, act, input } as OutboxQuestion)
    return (await pending.promise) as OutboxQuestions[Act]['output']
  }

  close(): void {
    this.#port.close()
  }

  #settle(reply: OutboxReply): void {
    const pending = this.#pending.get(reply.id)
    this.#pending.delete(reply.id)
    if ('failure' in reply) pending?.reject(new Error(reply.failure))
    else pending?.resolve(reply.output)
  }
}

function noStore(): Error {
  return new Error('the store is not there')
}
