import type { MessagePort } from 'node:worker_threads'
import { type CachePut, type CacheReply, isCacheQuestion } from '../../core/cached-answer.ts'
import type { Connection } from '../sqlite/connection.ts'

/** For all answers together; beyond it the oldest are removed. */
export const mostBytes = 256 * 1024 * 1024

export interface CacheFigures {
  answers: number
  bytes: number
  /** Look-ups since the thread began. */
  hits: number
  misses: number
}

/** Answers the data-plane threads' look-ups of cached answers, and stores the answers that they send. */
export class AnswerCache {
  readonly #connection: Connection
  readonly #mostBytes: number
  #hits = 0
  #misses = 0

  constructor(connection: Connection, most = mostBytes) {
    this.#connection = connection
    this.#mostBytes = most
  }

  serve(port: MessagePort): void {
    port.on('message', (message: { kind: string }) => {
      if (!isCacheQuestion(message)) return
      if (message.kind === 'cache-put') return void this.put(message).catch(ignore)
      const { id, key } = message
      void this.find(key, Date.now())
        // A database that cannot be read is a miss.
        .catch(() => null)
        .then((found) => port.postMessage({ kind: 'cached', id, found } satisfies CacheReply))
    })
  }

  async find(key: string, now: number): Promise<CacheReply['found']> {
    const found = await this.#connection.readHot((hot) => hot.cache.find(key, now))
    if (found === null) this.#misses++
    else this.#hits++
    return found
  }

  async put(entry: CachePut): Promise<void> {
    await this.#connection.writeHot((hot) => {
      hot.cache.put(entry)
      hot.cache.trim(this.#mostBytes)
    })
  }

  async removeExpired(now: number): Promise<void> {
    await this.#connection.writeHot((hot) => hot.cache.removeExpired(now))
  }

  async figures(): Promise<CacheFigures> {
    const { answers, bytes } = await this.#connection.readHot((hot) => hot.cache.size())
    return { answers, bytes, hits: this.#hits, misses: this.#misses }
  }
}

function ignore(): void {}
