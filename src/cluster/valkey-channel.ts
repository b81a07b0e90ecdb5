import type { Redis } from 'iovalkey'
import type { ValkeyAddress } from './protocol.ts'
import { explainValkey, noAnswer, openRedis, Script, serverClosed, type Valkey } from './valkey.ts'

/** How soon half-open connections are noticed: a ping must be answered in time. */
const pingMs = 300
/** How long messages are kept, for nodes that were not connected. */
const keptHours = 24
const keptMost = 10_000

/** `KEYS[1]`: the messages, by Valkey's time. `ARGV[1]`: `{ channel, text, keeps }` as JSON. */
const send = new Script(`
local told = cjson.decode(ARGV[1])
if told.keeps then
  local now = tonumber(redis.call('TIME')[1])
  redis.call('ZADD', KEYS[1], now, told.text)
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ${keptHours * 3600})
  redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -${keptMost + 1})
end
redis.call('PUBLISH', told.channel, told.text)
return 1`)

const readKept = new Script(`return redis.call('ZRANGE', KEYS[1], 0, -1)`)

export interface ChannelParts {
  address: ValkeyAddress
  cluster: string
  /** For everything except listening. */
  valkey: Valkey
  /** Messages of any node, including this one, possibly repeated. */
  onHeard(texts: string[]): void
  /** Why nothing arrives; null: messages do. */
  onTrouble(reason: string | null): void
}

/** Messages between nodes over Valkey: heard by listening nodes, and read by a node that begins to listen. */
export class ValkeyChannel {
  readonly #parts: ChannelParts
  readonly #redis: Redis
  readonly #pinging: NodeJS.Timeout
  #known = new Set<string>()
  #lastError = noAnswer
  #closed = false

  private constructor(redis: Redis, parts: ChannelParts) {
    this.#redis = redis
    this.#parts = parts
    redis.on('error', (error: Error) => {
      this.#lastError = explainValkey(error, parts.address)
    })
    redis.on('ready', () => void this.#listen())
    redis.on('close', () => this.#lose(this.#lastError))
    redis.on('message', (_channel, text) => this.#hear([text]))
    this.#pinging = setInterval(() => {
      if (redis.status !== 'ready') return
      redis.ping().catch(() => {
        this.#lastError = noAnswer
        redis.disconnect(true)
      })
    }, pingMs)
  }

  static async open(parts: ChannelParts): Promise<ValkeyChannel> {
    return new ValkeyChannel(await openRedis(parts.address, 'spgw-channel'), parts)
  }

  /** Rejects if Valkey cannot be reached. `keeps`: also for nodes that are not listening now. */
  async notify(text: string, keeps: boolean): Promise<void> {
    await this.#parts.valkey.evaluate(send, [this.#key], JSON.stringify({ channel: this.#key, text, keeps }))
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#pinging)
    this.#redis.disconnect()
  }

  /** In one hash slot with all keys of the cluster. */
  get #key(): string {
    return `spgw:{${this.#parts.cluster}}:revoked`
  }

  async #listen(): Promise<void> {
    const { valkey, onTrouble } = this.#parts
    try {
      await this.#redis.subscribe(this.#key)
      const texts = await valkey.evaluate(readKept, [this.#key], '')
      if (Array.isArray(texts)) this.#hear(texts.map(String))
      this.#lastError = serverClosed
      if (!this.#closed) onTrouble(null)
    } catch (error) {
      if (this.#closed) return
      this.#lastError = explainValkey(error, this.#parts.address)
      this.#lose(this.#lastError)
      this.#redis.disconnect(true)
    }
  }

  #lose(reason: string): void {
    if (!this.#closed) this.#parts.onTrouble(reason)
  }

  #hear(texts: readonly string[]): void {
    const fresh = texts.filter((text) => !this.#known.has(text))
    // As many as Valkey keeps. A forgotten message that is read again is heard again, which is harmless.
    if (this.#known.size > 2 * keptMost) this.#known = new Set()
    for (const text of fresh) this.#known.add(text)
    if (fresh.length > 0) this.#parts.onHeard(fresh)
  }
}
