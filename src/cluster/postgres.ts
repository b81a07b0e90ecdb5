import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import { describeLoss, isLoss, openClient, PostgresAway } from './connect.ts'
import type { PostgresAddress } from './protocol.ts'
import { channel } from './schema/configuration.ts'

/** Time after which a silent network is noticed. */
const answerMs = 4000
const pausesMs = [100, 200, 400, 800]
const longestPauseMs = 1500
/** It may be promoted, or the host name may point to the primary again. */
const standby = 'it is a standby, which takes no changes: promote it, or let cluster.postgres lead to the primary'
/** Older versions lack features that the schema uses. */
const oldest = 14

/** In front of it, each statement may run in another session than the one before. */
const pooler = 'connect past the pooler, or let it pool sessions, not transactions'

interface ServerState {
  standby: boolean
  version: string
}

export interface PostgresEvents {
  onLink(trouble: string | null): void
  onNotify(payload: string): void
}

/** Two connections: one for questions, one that listens. Lost ones are opened again until `close`. */
export class Postgres {
  readonly #address: PostgresAddress
  readonly #events: PostgresEvents
  #client: pg.Client | null = null
  #listener: pg.Client | null = null
  #linked = Promise.withResolvers<void>()
  #queue: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(address: PostgresAddress, events: PostgresEvents) {
    this.#address = address
    this.#events = events
  }

  /** Resolves when it is closed. */
  async run(): Promise<void> {
    for (let tries = 0; !this.#closed; tries++) {
      try {
        const { lost } = await this.#connect()
        // Closed while they were being opened: nobody else would end them.
        if (this.#closed) continue
        tries = 0
        this.#events.onLink(null)
        this.#linked.resolve()
        this.#report(await lost)
      } catch (error) {
        this.#report(error)
      } finally {
        await this.#drop()
      }
      if (!this.#closed) await wait(pausesMs[tries] ?? longestPauseMs)
    }
  }

  /** Not reported if it was closed on purpose. */
  #report(loss: unknown): void {
    if (!this.#closed) this.#events.onLink(describeLoss(loss, this.#address))
  }

  /** One question at a time. Throws `PostgresAway`, or PostgreSQL's own error. */
  async ask<Output>(run: (client: pg.Client) => Promise<Output>): Promise<Output> {
    const turn = this.#queue.then(() => this.#ask(run))
    this.#queue = turn.catch(() => {})
    return await turn
  }

  /** Resolves when it is connected, or after the time. */
  async linkedWithin(ms: number): Promise<void> {
    await Promise.race([this.#linked.promise, wait(ms)])
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#drop()
  }

  async #ask<Output>(run: (client: pg.Client) => Promise<Output>): Promise<Output> {
    const client = this.#client
    if (client === null) throw new PostgresAway('there is no connection')
    try {
      return await run(client)
    } catch (error) {
      if (!isLoss(error)) throw error
      // A connection with an outstanding answer cannot be used again.
      if (this.#client === client) client.emit('error', error)
      throw new PostgresAway(describeLoss(error, this.#address))
    }
  }

  /** `lost` resolves with the reason when one of the two connections ends. */
  async #connect(): Promise<{ lost: Promise<unknown> }> {
    const lost = Promise.withResolvers<unknown>()
    const open = () => openClient(this.#address, answerMs, lost.resolve)
    this.#listener = await open()
    this.#listener.on('notification', ({ payload }) => this.#events.onNotify(payload ?? ''))
    // Otherwise LISTEN would be refused, with a message that helps nobody.
    const { rows: states } = await this.#listener.query<ServerState>(
      "select pg_is_in_recovery() as standby, current_setting('server_version') as version",
    )
    const [state] = states
    if (state?.standby === true) throw new Error(standby)
    if (state !== undefined && Number.parseInt(state.version, 10) < oldest)
      throw new Error(`it is version ${state.version}, and nodes need ${oldest} or newer: upgrade it`)
    this.#client = await open()
    await refusePooled(this.#listener, this.#client)
    await this.#listener.query(`listen ${channel}`)
    const { rows } = await this.#listener.query('select pg_listening_channels() as name')
    if (rows.length === 0) throw new Error(`it does not keep LISTEN: ${pooler}`)
    return { lost: lost.promise }
  }

  async #drop(): Promise<void> {
    const clients = [this.#client, this.#listener]
    this.#client = null
    this.#listener = null
    this.#linked = Promise.withResolvers()
    await Promise.all(clients.map((client) => client && Promise.race([client.end().catch(() => {}), wait(200)])))
  }
}

/**
 * A pooler of transactions with a free session to spare keeps LISTEN for as long as nobody else asks. So the other connection holds the
 * session that was free last.
 */
async function refusePooled(listener: pg.Client, other: pg.Client): Promise<void> {
  const session = await backendOf(listener)
  if (session === null) return
  await other.query('begin')
  if ((await backendOf(other)) === session || (await backendOf(listener)) !== session)
    throw new Error(`it gives a connection no session of its own: ${pooler}`)
  await other.query('rollback')
}

async function backendOf(client: pg.Client): Promise<number | null> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid ?? null
}
