import type { MessagePort } from 'node:worker_threads'
import type { ObjectsAsked, ObjectsQuestion, ObjectsReply } from './shared-change.ts'

/** Whoever asks waits a little longer for the whole of it (`ObjectLookup`). */
const answerMs = 1200

/** What all nodes have stored, asked of the cluster's thread over the port of the outbox. */
export class OtherNodes {
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>()
  #port: MessagePort | null = null
  #lastQuestion = 0

  attach(port: MessagePort): void {
    this.#port = port
    port.on('close', () => {
      if (this.#port === port) this.#port = null
    })
  }

  /** Rejects with the reason, and in time. */
  async ask<Output>(asked: ObjectsAsked): Promise<Output> {
    const port = this.#port
    if (port === null) throw new Error('the cluster thread is not there')
    const question = ++this.#lastQuestion
    const pending = Promise.withResolvers<unknown>()
    const timer = setTimeout(() => pending.reject(new Error('PostgreSQL does not answer in time')), answerMs)
    this.#pending.set(question, pending)
    port.postMessage({ ...asked, question } satisfies ObjectsQuestion)
    try {
      // What is asked says what it is answered with.
      return (await pending.promise) as Output
    } finally {
      clearTimeout(timer)
      this.#pending.delete(question)
    }
  }

  hear(reply: ObjectsReply): void {
    const pending = this.#pending.get(reply.question)
    if ('failure' in reply) pending?.reject(new Error(reply.failure))
    else pending?.resolve(reply.output)
  }
}
