import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import { describeLoss, isLoss, openClient, PostgresAway } from './connect.ts'
import type { PostgresAddress } from './protocol.ts'

export interface OwnConnectionOptions {
  address: PostgresAddress
  /** Longer no statement may take. */
  statementMs: number
  /** Run on each new connection before anything else. */
  onOpen?(client: pg.Client): Promise<void>
}

/**
 * A connection that one part of the cluster's thread has for itself, so that no part waits for another. Opened when it is
 * first used, and again by whoever uses it after a loss.
 */
export class OwnConnection {
  readonly #options: OwnConnectionOptions
  #open: OpenConnection | null = null
  #queue: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #closed = false

  constructor(options: OwnConnectionOptions) {
    this.#options = options
  }

  /** One at a time. Throws `PostgresAway`, or what PostgreSQL refuses it with. */
  async use<Output>(run: (client: pg.Client) => Promise<Output>): Promise<Output> {
    this.#waiting++
    const turn = this.#queue.then(() => this.#use(run)).finally(() => this.#waiting--)
    this.#queue = turn.catch(() => {})
    return await turn
  }

  /** How many uses have not ended. */
  get waiting(): number {
    return this.#waiting
  }

  async close(): Promise<void> {
    this.#closed = true
    const open = this.#open
    this.#open = null
    await end(open)
  }

  async #use<Output>(run: (client: pg.Client) => Promise<Output>): Promise<Output> {
    if (this.#closed) throw new PostgresAway('the connection is closed')
    try {
      const { client, lost } = this.#open ?? (await this.#connect())
      // What was under way when the connection ended may never hear of it.
      return await Promise.race([run(client), lost])
    } catch (error) {
      if (!isLoss(error)) throw error
      // A connection of which an answer is outstanding is good for nothing any more.
      const open = this.#open
      this.#open = null
      void end(open)
      throw new PostgresAway(describeLoss(error))
    }
  }

  async #connect(): Promise<OpenConnection> {
    const { address, statementMs, onOpen } = this.#options
    const lost = Promise.withResolvers<never>()
    lost.promise.catch(() => {})
    const open: OpenConnection = { client: await openClient(address, statementMs, lost.reject), lost: lost.promise }
    try {
      await Promise.race([onOpen?.(open.client), lost.promise])
      // Closed while it was opened: nobody else would end it.
      if (this.#closed) throw new PostgresAway('the connection is closed')
    } catch (error) {
      void end(open)
      throw error
    }
    this.#open = open
    // Between two uses as well: the next one makes another.
    lost.promise.catch(() => {
      if (this.#open === open) this.#open = null
    })
    return open
  }
}

interface OpenConnection {
  client: pg.Client
  /** Rejects with the reason when the connection is over. */
  lost: Promise<never>
}

async function end(open: OpenConnection | null): Promise<void> {
  if (open !== null) await Promise.race([open.client.end().catch(() => {}), wait(200)])
}
