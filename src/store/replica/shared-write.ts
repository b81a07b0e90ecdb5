import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { StoreClient } from '../api.ts'
import { StoreConflict, StoreDegraded, StoreMoved, StoreOwned, StoreReadOnly } from '../store-error.ts'
import type { Rehearsal, RowChange, SharedCall, TakenAway } from './replica-types.ts'
import { isDeferrable, isOwn, takesAway } from './shared-tables.ts'

/** The order in which all nodes change what they share. */
export interface SharedLog {
  /** Why nothing can be appended now; null: it can. */
  trouble(): string | null
  /**
   * `moved`: others were first. The same token is appended once, however often it is given. Throws `StoreReadOnly` when it is
   * not known whether it was.
   */
  append(change: { sequence: number; changes: RowChange[]; token: string }): Promise<'appended' | 'moved'>
  /** The database is where the cluster was when this was called, or later; whether anything came in. */
  catchUp(): Promise<boolean>
  /** It holds here by now: every thread and every node is to know at once, whether PostgreSQL is there or not. */
  announce(call: SharedCall, taken: TakenAway): void
}

export interface SharedWriterParts {
  store: Pick<StoreClient, 'replica'>
  /** The call as a node alone makes it. */
  alone(call: SharedCall): Promise<unknown>
  log: SharedLog
}

/** So often others may be first before somebody is told to try again. */
const tries = 50
/** So long who takes something away waits until PostgreSQL has it. */
const takeAwayMs = 1000

/**
 * Changes what all nodes share: tried here and undone, appended where the cluster still is where this node was meanwhile,
 * and made by what comes back from there, on this node like on any other. One at a time, so that a node never competes with
 * itself.
 */
export class SharedWriter {
  readonly #parts: SharedWriterParts
  #last: Promise<unknown> = Promise.resolve()

  constructor(parts: SharedWriterParts) {
    this.#parts = parts
  }

  async write(call: SharedCall): Promise<unknown> {
    if (takesAway(call)) return await this.#takeAway(call)
    if (!isOwn(call.table, call.method)) return await this.#inTurn(() => this.#change(call))
    const output = await this.#parts.alone({ ...call, audit: null })
    if (call.audit !== null) await this.write({ table: 'audit', method: 'note', input: [], audit: call.audit })
    return output
  }

  /** What was decided here or heard of, oldest first. Resolves when nothing waits, or PostgreSQL is away. */
  async appendPending(): Promise<void> {
    await this.#inTurn(async () => {
      const { store, log } = this.#parts
      while (log.trouble() === null) {
        const pending = await store.replica({ act: 'pending' })
        if (pending === null) return
        const { sequence, changes, token, number } = pending
        const result = await log.append({ sequence, changes, token })
        if (result === 'appended') await store.replica({ act: 'settle', number })
        await log.catchUp()
      }
    })
  }

  #inTurn<Output>(run: () => Promise<Output>): Promise<Output> {
    const turn = this.#last.then(run, run)
    this.#last = turn.catch(() => {})
    return turn
  }

  /** It fits to whatever others do meanwhile, so it waits for nobody. */
  async #takeAway(call: SharedCall): Promise<unknown> {
    const { store, log } = this.#parts
    try {
      const { output, taken } = await store.replica({ act: 'defer', call, token: newToken() })
      if (taken !== null) log.announce(call, taken)
      await Promise.race([this.appendPending().catch(() => {}), wait(takeAwayMs, undefined, { ref: false })])
      return output
    } catch (error) {
      // What it takes away has not come here yet, or is gone.
      if (!isRejection(error)) throw error
      return await this.#inTurn(() => this.#change(call))
    }
  }

  async #change(call: SharedCall): Promise<unknown> {
    const token = newToken()
    for (let attempt = 0; attempt < tries; attempt++) {
      const trouble = this.#parts.log.trouble()
      if (trouble !== null) return await this.#withoutPostgres(call, token, trouble)
      const rehearsal = await this.#rehearse(call)
      if (rehearsal === null) continue
      if (rehearsal.changes.length === 0) return await this.#parts.alone(call)
      try {
        if (await this.#append(rehearsal, token)) return rehearsal.output
      } catch (error) {
        if (!(error instanceof StoreReadOnly)) throw error
        return await this.#withoutPostgres(call, token, error.message)
      }
    }
    throw new StoreConflict('other nodes of the cluster changed the configuration all the time; try again')
  }

  /** Null: it was rejected by what is no longer so. Only at the head is a rejection an answer. */
  async #rehearse(call: SharedCall): Promise<Rehearsal | null> {
    try {
      return await this.#parts.store.replica({ act: 'rehearse', call })
    } catch (error) {
      if (isRejection(error) && (await this.#parts.log.catchUp())) return null
      throw error
    }
  }

  async #append({ sequence, changes }: Rehearsal, token: string): Promise<boolean> {
    const { log } = this.#parts
    const result = await log.append({ sequence, changes, token })
    try {
      await log.catchUp()
    } catch (error) {
      // It is made; that it has not come back yet is not the caller's trouble.
      if (result === 'moved' || !(error instanceof StoreDegraded)) throw error
    }
    return result === 'appended'
  }

  async #withoutPostgres(call: SharedCall, token: string, reason: string): Promise<unknown> {
    if (isDeferrable(call)) return (await this.#parts.store.replica({ act: 'defer', call, token })).output
    throw new StoreReadOnly(`the configuration is read-only: ${reason}`)
  }
}

function isRejection(error: unknown): boolean {
  return error instanceof StoreConflict || error instanceof StoreOwned || error instanceof StoreMoved
}

function newToken(): string {
  return randomBytes(16).toString('base64url')
}
