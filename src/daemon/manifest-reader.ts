import type { Worker } from 'node:worker_threads'
import type { Manifest } from '../manifest/read.ts'
import { fromMessage, type ReadMessage, type ReadRequest } from '../manifest/thread-message.ts'
import { startThread } from './threads/threads.ts'

/** As long may reading take: far more than the largest files that are accepted need on a busy machine. */
const readMs = 30_000

/** Reads configuration files in a thread of its own, one call after the other, so that nobody keeps the machine busy with many. */
export class ManifestReader {
  readonly #start: (request: ReadRequest) => Worker
  readonly #limitMs: number
  #last: Promise<unknown> = Promise.resolve()

  constructor(start = (request: ReadRequest) => startThread('manifest', request), limitMs = readMs) {
    this.#start = start
    this.#limitMs = limitMs
  }

  /** Files that take too long or too much memory are rejected like any others that cannot be read. */
  read(request: ReadRequest): Promise<Manifest> {
    const read = this.#last.then(() => this.#read(request))
    this.#last = read.catch(() => {})
    return read
  }

  #read(request: ReadRequest): Promise<Manifest> {
    const place = request.documents[0]?.name ?? ''
    const rejected = (message: string): Manifest => ({ owner: '', entries: [], problems: [{ place, message }] })
    return new Promise((resolve, reject) => {
      const thread = this.#start(request)
      const timer = setTimeout(() => {
        resolve(rejected('the files take too long to read; apply them in parts'))
        void thread.terminate()
      }, this.#limitMs)
      thread.once('message', (message: ReadMessage) => resolve(fromMessage(message)))
      thread.once('error', (error: NodeJS.ErrnoException) =>
        error.code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? resolve(rejected('the files need too much memory; apply them in parts'))
          : reject(error),
      )
      thread.once('exit', () => {
        clearTimeout(timer)
        reject(new Error('the thread that reads configuration files has ended'))
      })
    })
  }
}
