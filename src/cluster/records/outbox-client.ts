import type { MessagePort } from 'node:worker_threads'
import type { OutboxAct, OutboxQuestion, OutboxQuestions, OutboxReply } from '../../store/replica/outbox-types.ts'
import type { ObjectsQuestion, ObjectsReply } from '../../store/replica/shared-change.ts'

/** The store's outbox, asked over a port that ends with either thread. */
export class OutboxClient {
  readonly #port: MessagePort
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>()
  #lastId = 0
  #closed = false

  /** `onQuestion`: what the store asks of all nodes. */
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
    // It keeps no thread alive that has nothing else to do.
    port.unref()
  }

  async ask<Act extends OutboxAct>(
    act: Act,
    input: OutboxQuestions[Act]['input'],
  ): Promise<OutboxQuestions[Act]['output']> {
    // Nobody hears what is posted to a port that has ended, and nobody would answer.
    if (this.#closed) throw noStore()
    const id = ++this.#lastId
    const pending = Promise.withResolvers<unknown>()
    this.#pending.set(id, pending)
    // The act and its input come together; so does what the store answers.
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
