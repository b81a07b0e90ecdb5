import type { Database, Statement } from 'better-sqlite3'
import type { BatchHeldEntry, SettledHold } from '../../core/journal-format.ts'
import { kindOfCounter } from '../../core/policy-limits.ts'
import type { ObjectPlace } from '../../core/stored-object.ts'
import { readJson, writeJson } from '../sqlite/json-column.ts'

/** A batch, by its id at its provider. */
export interface HeldBatch extends ObjectPlace {
  batchId: string
}

/** What it came to. */
export interface BatchActual {
  /** Nano-dollars. */
  usd: number
  tokens: number
}

/** What batches hold of budgets until it is known what they used: that may be days after the call that made them. */
export class BatchHoldStatements {
  readonly #open: Statement<string[]>
  readonly #end: Statement<string[]>
  readonly #close: Statement<string[], { held_json: string }>
  readonly #due: Statement<string[], { held_json: string }>

  constructor(sqlite: Database) {
    const place = 'batch_id = ? and provider_id = ? and credential_id = ?'
    // Another thread's journal may have told of its results before.
    this.#open = sqlite.prepare(
      `insert into batch_holds (batch_id, provider_id, credential_id, created_at, held_json) select ?, ?, ?, ?, ?
       where not exists (select 1 from counted_batches where id = ? and provider_id = ? and credential_id = ?)
       on conflict do nothing`,
    )
    this.#end = sqlite.prepare(`update batch_holds set ended_at = ? where ${place} and ended_at is null`)
    this.#close = sqlite.prepare(`delete from batch_holds where ${place} returning held_json`)
    this.#due = sqlite.prepare(
      `select held_json from batch_holds where ended_at < ? or (ended_at is null and created_at < ?) limit 100`,
    )
  }

  open(entry: BatchHeldEntry): void {
    const place = valuesOf({ ...entry.owner, batchId: entry.batchId })
    this.#open.run(...place, entry.time, writeJson(entry), ...place)
  }

  /** It has ended; its results are still to be read. */
  end(place: HeldBatch, time: string): void {
    this.#end.run(time, ...valuesOf(place))
  }

  /** It holds nothing more. Empty: it held nothing. */
  settle(place: HeldBatch, actual: BatchActual): SettledHold[] {
    const row = this.#close.get(...valuesOf(place))
    if (row === undefined) return []
    const { hold } = readJson<BatchHeldEntry>(row.held_json)
    return hold.map(([counter, period, held]) => {
      const isUsd = kindOfCounter(counter) === 'usd'
      return { counter, period, held, actual: isUsd ? actual.usd : actual.tokens }
    })
  }

  /** Those whose results nobody has read, of which the end is known since before `ended`, or that were made before `created`. */
  due({ ended, created }: { ended: string; created: string }): BatchHeldEntry[] {
    return this.#due.all(ended, created).map(({ held_json }) => readJson<BatchHeldEntry>(held_json))
  }
}

function valuesOf({ batchId, providerId, credentialId }: HeldBatch): string[] {
  return [batchId, providerId, credentialId ?? '']
}
