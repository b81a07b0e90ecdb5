import { createHash } from 'node:crypto'
import type { Redis } from 'iovalkey'
import { errorText } from '../core/caught.ts'
import { explainLoss } from './explain-loss.ts'
import type { ValkeyAddress, ValkeyFacts } from './protocol.ts'

const connectMs = 3000
/** A slower call is given up; the next one states everything again. */
const answerMs = 250
/** After so many calls in a row, the server hangs, or the network drops what is sent to it. */
const mostUnanswered = 4
const longestPauseMs = 1500
export const noAnswer = 'it does not answer'
/** The message of iovalkey for a call without an answer. */
export const timedOut = 'Command timed out'
/** The reason why a good connection ended, if none is known. */
export const serverClosed = 'it closed the connection'

/** A connection to Valkey or Redis, opened again until it is closed. */
export class Valkey {
  readonly #redis: Redis
  readonly #address: ValkeyAddress
  readonly #onTrouble: (reason: string | null) => void
  /** Identifies the server process; null: there is no connection. */
  #run: string | null = null
  #facts: ValkeyFacts | null = null
  #closed = false
  #isRefused = false
  #unanswered = 0
  #lastError = `${noAnswer}, or still loads its data`
  /** A server that is still loading its data rejects clients, but does not close the connection. */
  readonly #waiting: NodeJS.Timeout

  private constructor(redis: Redis, address: ValkeyAddress, onTrouble: (reason: string | null) => void) {
    this.#redis = redis
    this.#address = address
    this.#onTrouble = onTrouble
    redis.on('error', (error: Error) => {
      this.#lastError = explainValkey(error, address)
    })
    redis.on('ready', () => void this.#greet())
    redis.on('close', () => this.#lose(this.#lastError))
    this.#waiting = setTimeout(() => this.#run === null && this.#lose(this.#lastError), connectMs)
  }

  /** Loaded only if a node is configured to use it. `onTrouble`: why it cannot be reached; null: it can. */
  static async open(address: ValkeyAddress, onTrouble: (reason: string | null) => void): Promise<Valkey> {
    return new Valkey(await openRedis(address, 'spgw'), address, onTrouble)
  }

  /** What the server reports about itself; null: nothing yet. */
  get facts(): ValkeyFacts | null {
    return this.#facts
  }

  get run(): string | null {
    return this.#run
  }

  /** Rejects if the server cannot be reached or does not answer in time, or if `read` throws because the answer cannot be read. */
  evaluate(script: Script, keys: readonly string[], input: string): Promise<unknown>
  evaluate<Output>(
    script: Script,
    keys: readonly string[],
    input: string,
    read: (answer: unknown) => Output,
  ): Promise<Output>
  async evaluate(
    script: Script,
    keys: readonly string[],
    input: string,
    read: (answer: unknown) => unknown = (answer) => answer,
  ): Promise<unknown> {
    const answer = await this.#ask(script, keys, input)
    try {
      const output = read(answer)
      if (this.#isRefused) this.#onTrouble(null)
      this.#isRefused = false
      return output
    } catch (error) {
      this.#refuse(errorText(error))
      throw error
    }
  }

  async #ask(script: Script, keys: readonly string[], input: string): Promise<unknown> {
    try {
      const answer = await this.#evaluate(script, keys, input)
      this.#unanswered = 0
      return answer
    } catch (error) {
      if (error instanceof Error && error.name === 'ReplyError') this.#refuse(explainValkey(error, this.#address))
      else if (error instanceof Error && error.message === timedOut) this.#noteSilence()
      throw error
    }
  }

  /** An error of the server itself stays until an operator fixes it: missing rights, a replica, no memory. */
  #refuse(reason: string): void {
    this.#unanswered = 0
    this.#isRefused = true
    this.#onTrouble(reason)
  }

  async #evaluate(script: Script, keys: readonly string[], input: string): Promise<unknown> {
    try {
      return await this.#redis.evalsha(script.digest, keys.length, ...keys, input)
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
      return await this.#redis.eval(script.text, keys.length, ...keys, input)
    }
  }

  /** Otherwise nothing would end a connection whose other side is silent. */
  #noteSilence(): void {
    this.#unanswered++
    if (this.#unanswered < mostUnanswered || this.#run === null) return
    this.#unanswered = 0
    this.#lastError = noAnswer
    this.#lose(noAnswer)
    this.#redis.disconnect(true)
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#waiting)
    this.#redis.disconnect()
  }

  async #greet(): Promise<void> {
    try {
      const said = await this.#redis.info()
      // A replica accepts no writes: it cannot be used until it is promoted, or the name points to another server.
      if (/^role:slave/m.test(said)) throw new Error('it is a replica, and takes no writes')
      const [, run] = /^run_id:(\w+)/m.exec(said) ?? []
      const [, name = '', version = ''] = /^(valkey|redis)_version:(\S+)/m.exec(said) ?? []
      // Valkey also reports the version of Redis that it is compatible with.
      const [, valkey] = /^valkey_version:(\S+)/m.exec(said) ?? []
      const [, policy = null] = /^maxmemory_policy:(\S+)/m.exec(said) ?? []
      const isBounded = /^maxmemory:[1-9]/m.test(said)
      this.#facts = {
        product: valkey === undefined ? `${name} ${version}` : `valkey ${valkey}`,
        evicts: isBounded && policy !== 'noeviction' ? policy : null,
      }
      if (run === undefined) throw new Error('it does not name its run_id')
      this.#run = run
      this.#lastError = serverClosed
      this.#onTrouble(null)
    } catch (error) {
      this.#lastError = explainValkey(error, this.#address)
      this.#redis.disconnect(true)
    }
  }

  #lose(reason: string): void {
    this.#run = null
    if (!this.#closed) this.#onTrouble(reason)
  }
}

export function explainValkey(error: unknown, address: ValkeyAddress): string {
  const reason = explainLoss(error, { ...address, setting: 'valkey' })
  if (!reason.endsWith(timedOut) && reason !== 'connect ETIMEDOUT') return reason
  return address.plain ? noAnswer : `${noAnswer} in TLS, which connections to another machine always have`
}

/** Connects, and reconnects after each loss. Questions in the meantime are rejected. */
export async function openRedis(address: ValkeyAddress, connectionName: string): Promise<Redis> {
  const { Redis } = await import('iovalkey')
  const { host, port, user, password, database, authority, plain } = address
  return new Redis({
    ...(host.startsWith('/') ? { path: host } : { host, port }),
    ...(user === null ? {} : { username: user }),
    ...(password === null ? {} : { password }),
    ...(plain ? {} : { tls: authority === null ? {} : { ca: authority } }),
    // Accepts any address family. Otherwise it tries IPv4, then IPv6, and from then on only IPv4.
    family: 0,
    familyFallback: { enabled: false },
    db: database,
    connectionName,
    connectTimeout: connectMs,
    commandTimeout: answerMs,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    // The listener subscribes again itself, and reads what it missed.
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (tries) => Math.min(100 * 2 ** Math.min(tries, 10), longestPauseMs),
    // A primary that became a replica refuses writes: the name may point to another server now.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  })
}

/** A script, and its name at the server. */
export class Script {
  readonly text: string
  readonly digest: string

  constructor(text: string) {
    this.text = text
    this.digest = createHash('sha1').update(text).digest('hex')
  }
}
