import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import { describeLoss, isLoss, openClient, PostgresAway } from './connect.ts'
import type { PostgresAddress } from './protocol.ts'

export interface OwnConnectionOptions {
  address: PostgresAddress
  /** The longest statement. */
  statementMs: number
  /** Runs on each new connection before anything else. */
  onOpen?(client: pg.Client): Promise<void>
  /** Cancels what a backend is running, over another connection. Only needed if uses can be cancelled. */
  stop?(backend: Backend): Promise<unknown>
}

/** The PostgreSQL process behind a connection, and its start time, since another server may reuse its number. */
export interface Backend {
  pid: number
  begun: string
}

const whoseBackend =
  'select pid, extract(epoch from backend_start)::text as begun from pg_stat_activity where pid = pg_backend_pid()'
const stopBackendText = `
select pg_cancel_backend(pid) from pg_stat_activity where pid = $1 and extract(epoch from backend_start)::text = $2`
/** If the statement had not begun when it was cancelled, it is cancelled again. */
const stopAgainMs = 100

export async function stopBackend(client: pg.Client, { pid, begun }: Backend): Promise<void> {
  await client.query(stopBackendText, [pid, begun])
}

/** A connection for one part of the cluster thread, so that no part waits for another. Opened on first use, and again after a loss. */
export class OwnConnection {
  readonly #options: OwnConnectionOptions
  #open: OpenConnection | null = null
  #queue: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #closed = false

  constructor(options: OwnConnectionOptions) {
    this.#options = options
  }

  /**
   * One use at a time. Throws `PostgresAway`, or PostgreSQL's own error. If the signal fires, the use does not begin, or is cancelled in
   * PostgreSQL.
   */
  async use<Output>(run: (client: pg.Client) => Promise<Output>, signal: AbortSignal | null = null): Promise<Output> {
    this.#waiting++
    const turn = this.#queue
      .then(() => (signal === null ? this.#use(run) : this.#runUntil(signal, run)))
      .finally(() => this.#waiting--)
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

  async #runUntil<Output>(signal: AbortSignal, run: (client: pg.Client) => Promise<Output>): Promise<Output> {
    let stopping: Promise<void> | null = null
    const stop = () => {
      stopping = this.#stop(use)
    }
    const use = this.#use(async (client) => {
      if (signal.aborted) return null
      signal.addEventListener('abort', stop)
      return { output: await run(client) }
    })
    try {
      const done = await use
      if (done === null) throw new Error('it was given up before it began')
      return done.output
    } finally {
      signal.removeEventListener('abort', stop)
      // Otherwise the cancellation could hit the next statement on this connection.
      await stopping
    }
  }

  async #stop(use: Promise<unknown>): Promise<void> {
    const backend = this.#open?.backend ?? null
    const ended = use.then(
      () => true,
      () => true,
    )
    do {
      if (backend !== null) await this.#options.stop?.(backend).catch(() => {})
    } while (!(await Promise.race([ended, wait(stopAgainMs, false)])))
  }

  async #use<Output>(run: (client: pg.Client) => Promise<Output>): Promise<Output> {
    if (this.#closed) throw new PostgresAway('the connection is closed')
    try {
      const { client, lost } = this.#open ?? (await this.#connect())
      // A statement in progress may never learn that its connection has ended.
      return await Promise.race([run(client), lost])
    } catch (error) {
      if (!isLoss(error)) throw error
      // A connection with an outstanding answer cannot be used again.
      const open = this.#open
      this.#open = null
      void end(open)
      throw new PostgresAway(describeLoss(error, this.#options.address))
    }
  }

  async #connect(): Promise<OpenConnection> {
    const { address, statementMs, onOpen, stop } = this.#options
    const lost = Promise.withResolvers<never>()
    lost.promise.catch(() => {})
    const client = await openClient(address, statementMs, lost.reject)
    const open: OpenConnection = { client, lost: lost.promise, backend: null }
    try {
      await Promise.race([onOpen?.(client), lost.promise])
      if (stop !== undefined) {
        const { rows } = await Promise.race([client.query<Backend>(whoseBackend), lost.promise])
        open.backend = rows[0] ?? null
      }
      // Closed while it was being opened: nobody else would end it.
      if (this.#closed) throw new PostgresAway('the connection is closed')
    } catch (error) {
      void end(open)
      throw error
    }
    this.#open = open
    // It may also fail between two uses; the next use opens another.
    lost.promise.catch(() => {
      if (this.#open === open) this.#open = null
    })
    return open
  }
}

interface OpenConnection {
  client: pg.Client
  /** null: nothing is ever cancelled. */
  backend: Backend | null
  /** Rejects with the reason when the connection has ended. */
  lost: Promise<never>
}

async function end(open: OpenConnection | null): Promise<void> {
  if (open !== null) await Promise.race([open.client.end().catch(() => {}), wait(200)])
}
