import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { LaneName } from '../../src/core/lane.ts'
import { type LaneCall, laneCall } from './lane-calls.ts'
import type { Stage } from './stage.ts'

/** What a crowd has met. */
export interface Tally {
  /** By request id: status of each answer whose last byte came. */
  complete: ReadonlyMap<string, number>
  /** In words: requests that were sent and not answered whole. */
  failed: readonly string[]
  /** Clients that found nobody listening any more, and left. */
  refused: number
}

export interface Crowd {
  tally: Tally
  /** Resolves after so many more answers. */
  answered(count: number): Promise<void>
  /** Every client ends with the answer that it waits for. */
  leave(): Promise<void>
  /** Resolves when every client has left by itself. */
  gone: Promise<void>
}

export interface CrowdOptions {
  clients: number
  /** Default: OpenAI and Anthropic, in turns. */
  lanes?: readonly LaneName[]
  /** Default: the stage's gateway. */
  baseUrl?: string
  /**
   * Each asks a few times a second while nobody counts its answers: a test that waits for something else is no slower for a
   * crowd that takes all of the machine.
   */
  easy?: boolean
  /** PEM that is believed, where the gateway speaks TLS; read for each connection. */
  trusted?: () => string[]
}

/**
 * Clients that ask without a pause, one after the other, over connections that they keep: whole answers and streams of
 * the OpenAI and the Anthropic lane.
 */
export function startCrowd(stage: Stage, options: CrowdOptions): Crowd {
  const crowd = new Clients(stage, options)
  return { tally: crowd, answered: (count) => crowd.answered(count), leave: () => crowd.leave(), gone: crowd.gone }
}

const easyMs = 200

class Clients implements Tally {
  readonly complete = new Map<string, number>()
  readonly failed: string[] = []
  refused = 0
  readonly gone: Promise<void>
  readonly #stage: Stage
  readonly #options: CrowdOptions
  readonly #resting = new Set<() => void>()
  #leaving = false
  #waiting: { left: number; resolve: () => void }[] = []

  constructor(stage: Stage, options: CrowdOptions) {
    this.#stage = stage
    this.#options = options
    this.gone = Promise.all(Array.from({ length: options.clients }, (_, client) => this.#play(client))).then(() => {})
  }

  answered(count: number): Promise<void> {
    this.#wake()
    return new Promise((resolve) => this.#waiting.push({ left: count, resolve }))
  }

  async leave(): Promise<void> {
    this.#leaving = true
    this.#wake()
    await this.gone
  }

  async #play(client: number): Promise<void> {
    const { lanes = ['openai', 'anthropic'] } = this.#options
    const lane = laneCall(lanes[client % lanes.length] ?? 'openai')
    const agent = this.#openAgent()
    for (let turn = client; !this.#leaving; turn++) {
      const outcome = await this.#ask(lane, turn % 4 < 2, agent)
      if (outcome === 'refused') this.refused++
      else if (typeof outcome === 'string') this.failed.push(outcome)
      else this.complete.set(outcome.id, outcome.status)
      for (const waiting of this.#waiting) if (--waiting.left === 0) waiting.resolve()
      this.#waiting = this.#waiting.filter(({ left }) => left > 0)
      if (typeof outcome === 'string') break
      if (this.#options.easy && this.#waiting.length === 0) await this.#called()
    }
    agent.destroy()
  }

  /** Resolves after a moment, and at once where somebody begins to count. */
  async #called(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#resting.add(resolve)
    const timer = setTimeout(resolve, easyMs)
    await promise
    clearTimeout(timer)
    this.#resting.delete(resolve)
  }

  #wake(): void {
    for (const resolve of this.#resting) resolve()
  }

  #openAgent(): http.Agent {
    const { trusted } = this.#options
    const pool = { keepAlive: true, maxSockets: 1 }
    if (trusted === undefined) return new http.Agent(pool)
    // Whether the name fits is not what is tested.
    return new https.Agent({ ...pool, ca: trusted(), checkServerIdentity: () => undefined })
  }

  #ask(lane: LaneCall, stream: boolean, agent: http.Agent): Promise<{ id: string; status: number } | string> {
    const { gateway, models, key } = this.#stage
    const baseUrl = this.#options.baseUrl ?? gateway.baseUrl
    const { path, body } = lane.call(models[lane.lane], { stream })
    const headers = Object.fromEntries([lane.credential(key), ['content-type', 'application/json']])
    const { promise, resolve } = Promise.withResolvers<{ id: string; status: number } | string>()
    const request = (baseUrl.startsWith('https') ? https : http).request(baseUrl + path, {
      method: 'POST',
      headers,
      agent,
    })
    request.on('error', (error: NodeJS.ErrnoException) =>
      resolve(
        error.code === 'ECONNREFUSED'
          ? 'refused'
          : `${error.code} ${request.reusedSocket ? 'again' : 'anew'}: ${error.message}`,
      ),
    )
    request.on('response', (response) => void this.#read(response, stream ? lane.endMark : null).then(resolve))
    request.end(body)
    return promise
  }

  async #read(response: IncomingMessage, endMark: string | null): Promise<{ id: string; status: number } | string> {
    const id = String(response.headers['x-sp-request-id'])
    let text = ''
    response.setEncoding('utf8').on('data', (part: string) => (text += part))
    await new Promise<void>((resolve) => response.once('close', resolve).on('error', () => {}))
    if (!response.complete) return `${id}: cut off`
    const status = response.statusCode ?? 0
    if (status !== 200) return `${id}: ${status} ${text.slice(0, 200)}`
    return endMark === null || text.includes(endMark) ? { id, status } : `${id}: ended without its end`
  }
}
