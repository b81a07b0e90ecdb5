import { createHash } from 'node:crypto'
import type { Redis } from 'iovalkey'
import { errorText } from '../core/caught.ts'
import { explainLoss } from './explain-loss.ts'
import type { ValkeyAddress, ValkeyFacts } from './protocol.ts'

const connectMs = 3000
/** A call that takes longer is given up, and the next one says the whole again. */
const answerMs = 250
/** So many in a row: the server hangs, or the network swallows what is sent to it. */
const mostUnanswered = 4
const longestPauseMs = 1500
export const noAnswer = 'it does not answer'
/** What iovalkey says of a call without an answer. */
export const timedOut = 'Command timed out'
/** Why a good connection ended, where nothing else is known. */
export const serverClosed = 'it closed the connection'

/** Valkey or Redis, over one connection that is made again for as long as it is not closed. */
export class Valkey {
  readonly #redis: Redis
  readonly #address: ValkeyAddress
  readonly #onTrouble: (reason: string | null) => void
  /** Of the server process behind the connection; null: there is none. */
  #run: string | null = null
  #facts: ValkeyFacts | null = null
  #closed = false
  #isRefused = false
  #unanswered = 0
  #lastError = `${noAnswer}, or still loads its data`
  /** A server that still loads its data lets nobody in, and closes nothing either. */
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

  /** Loaded only where a node is told to use it. `onTrouble`: why it is not reached; null: it is. */
  static async open(address: ValkeyAddress, onTrouble: (reason: string | null) => void): Promise<Valkey> {
    return new Valkey(await openRedis(address, 'spgw'), address, onTrouble)
  }

  /** What the server says of itself; null: nothing yet. */
  get facts(): ValkeyFacts | null {
    return this.#facts
  }

  get run(): string | null {
    return this.#run
  }

  /** Rejects where it is not reached, does not answer in time, or answers what cannot be read: `read` throws, and says why. */
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

  /** What the server itself says stays until it is put right: a user that may not, a replica, no memory. */
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

  /** Nothing else ends a connection whose other side is silent. */
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
      // A replica takes no writes: until the name leads to another one, or it is promoted, it is none to ask.
      if (/^role:slave/m.test(said)) throw new Error('it is a replica, and takes no writes')
      const [, run] = /^run_id:(\w+)/m.exec(said) ?? []
      const [, name = '', version = ''] = /^(valkey|redis)_version:(\S+)/m.exec(said) ?? []
      // Valkey says the version of Redis that it is compatible with as well.
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

/** Connects, and again after each loss. What it is asked meanwhile is refused. */
export async function openRedis(address: ValkeyAddress, connectionName: string): Promise<Redis> {
  const { Redis } = await import('iovalkey')
  const { host, port, user, password, database, authority, plain } = address
  return new Redis({
    ...(host.startsWith('/') ? { path: host } : { host, port }),
    ...(user === null ? {} : { username: user }),
    ...(password === null ? {} : { password }),
    ...(plain ? {} : { tls: authority === null ? {} : { ca: authority } }),
    // Whatever the name leads to. Else it takes IPv4, IPv6 at the second try, and from then on IPv4 again for good.
    family: 0,
    familyFallback: { enabled: false },
    db: database,
    connectionName,
    connectTimeout: connectMs,
    commandTimeout: answerMs,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    // Whoever listens says anew for what, and reads what was told meanwhile.
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (tries) => Math.min(100 * 2 ** Math.min(tries, 10), longestPauseMs),
    // A primary that became a replica refuses what it is asked to write: the name may lead to another one now.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  })
}

/** A script and its name at the server. */
export class Script {
  readonly text: string
  readonly digest: string

  constructor(text: string) {
    this.text = text
    this.digest = createHash('sha1').update(text).digest('hex')
  }
}
