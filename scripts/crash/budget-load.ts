import { request as httpRequest } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { Random } from './random.ts'

/** A call that costs: its path, its model, and where it says how long its answer may get. */
const calls = [
  { path: '/v1/chat/completions', model: 'priced', limit: 'max_completion_tokens', streams: true },
  { path: '/v1/responses', model: 'priced', limit: 'max_output_tokens', streams: true },
  { path: '/v1/completions', model: 'priced', limit: 'max_tokens', streams: true },
  { path: '/v1/embeddings', model: 'priced', limit: null, streams: false },
  { path: '/v1/anthropic/v1/messages', model: 'claude', limit: 'max_tokens', streams: true },
] as const

export interface BudgetKeys {
  /** Under the workspace's budget alone. */
  spender: string
  /** Under limits of tokens a minute and of requests at once besides. */
  limited: string
}

/** Clients that send one request after the other, of every form; some leave in the midst of an answer. */
export class BudgetLoad {
  readonly #baseUrl: string
  readonly #keys: BudgetKeys
  readonly #random: Random
  readonly #clients: Promise<void>[]
  /**
   * When the last byte of a call's answer came, or its connection broke, by the call's tag; nothing of those whose client left.
   * Milliseconds.
   */
  readonly lastBytes = new Map<string, number>()
  /** Calls without an answer, by their tags: the gateway may have died before it wrote of them. Milliseconds. */
  readonly unanswered = new Map<string, { from: number; until: number }>()
  /** Calls that have ended. */
  ended = 0
  #over = false
  #pause: PromiseWithResolvers<void> | null = null
  #open = 0
  #calls = 0

  constructor(baseUrl: string, keys: BudgetKeys, random: Random, clients: number) {
    this.#baseUrl = baseUrl
    this.#keys = keys
    this.#random = random
    this.#clients = Array.from({ length: clients }, () => this.#play())
  }

  /** Resolves when nothing is under way any more; nothing more is sent until `resume`. */
  async pause(): Promise<void> {
    this.#pause = Promise.withResolvers()
    while (this.#open > 0) await wait(5)
  }

  resume(): void {
    this.#pause?.resolve()
    this.#pause = null
  }

  /** When the gateway is dead. */
  async end(): Promise<void> {
    this.#over = true
    this.resume()
    await Promise.all(this.#clients)
  }

  async #play(): Promise<void> {
    while (!this.#over) {
      await this.#pause?.promise
      this.#open++
      await this.#send().catch(() => wait(20))
      this.#open--
      this.ended++
    }
  }

  #send(): Promise<void> {
    const random = this.#random
    const { path, model, limit, streams } = random.pick(calls)
    const streamed = streams && random.chance(0.5)
    const content = 'x'.repeat(random.between(10, 4000))
    // Anthropic's calls must have one.
    const limited = limit !== null && (model === 'claude' || random.chance(0.6))
    const body = JSON.stringify({
      model,
      ...(path.endsWith('messages') || path.endsWith('chat/completions')
        ? { messages: [{ role: 'user', content }] }
        : path.endsWith('/completions')
          ? { prompt: content }
          : { input: content }),
      ...(limited ? { [limit]: random.between(1, 300) } : {}),
      ...(streamed ? { stream: true } : {}),
    })
    const leaves = random.chance(0.15)
    const key = random.chance(0.3) ? this.#keys.limited : this.#keys.spender
    const tag = String(this.#calls++)
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', [tagHeader]: `call=${tag}` }
      const sent = httpRequest(this.#baseUrl + path, { method: 'POST', headers })
      const from = Date.now()
      let hasLeft = false
      const end = () => {
        if (!hasLeft) this.lastBytes.set(tag, Date.now())
      }
      const fail = (error: unknown) => {
        end()
        this.unanswered.set(tag, { from, until: Date.now() })
        reject(error)
      }
      // A gateway that was killed may answer what is still written with a second error, and each needs a listener.
      sent.on('error', fail)
      sent.once('response', (response) => {
        response.resume()
        response.once('end', end)
        response.on('error', fail)
        // A refusal that waiting may cure is waited for, so that clients do not ask at full speed.
        response.once('close', () => void wait(response.statusCode === 429 ? 30 : 0).then(resolve))
        if (leaves)
          void wait(random.between(0, 40)).then(() => {
            hasLeft = !response.complete
            sent.destroy()
          })
      })
      sent.end(body)
    })
  }
}

const tagHeader = 'x-sp-tag'
