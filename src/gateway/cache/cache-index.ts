import type { MessagePort } from 'node:worker_threads'
import type { CachePut, CacheReply } from '../../core/cached-answer.ts'
import { stallAwareTimeout } from '../../core/threads/stall-aware-timeout.ts'

/** The longest look-up: later than this, asking the provider is as good. */
const answerMs = 50

/** This thread's access to the cached answers, which the store thread keeps. If it cannot be reached, the look-up is a miss. */
export class CacheIndex {
  #port: MessagePort | null = null
  readonly #pending = new Map<number, (found: CacheReply['found']) => void>()
  #lastId = 0

  attach(port: MessagePort): void {
    this.#port = port
    port.on('message', (reply: CacheReply | { kind: string }) => {
      if (isReply(reply)) this.#pending.get(reply.id)?.(reply.found)
    })
    port.on('close', () => {
      if (this.#port === port) this.#port = null
    })
  }

  async find(key: string): Promise<CacheReply['found']> {
    const port = this.#port
    if (port === null) return null
    const id = ++this.#lastId
    const { promise, resolve } = Promise.withResolvers<CacheReply['found']>()
    const timeout = stallAwareTimeout(answerMs, () => resolve(null))
    this.#pending.set(id, resolve)
    port.postMessage({ kind: 'cache-get', id, key })
    try {
      return await promise
    } finally {
      timeout.cancel()
      this.#pending.delete(id)
    }
  }

  keep(entry: CachePut): void {
    this.#port?.postMessage(entry)
  }
}

function isReply(reply: { kind: string }): reply is CacheReply {
  return reply.kind === 'cached'
}
