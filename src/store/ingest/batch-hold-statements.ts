import type { Database, Statement } from 'better-sqlite3'
import type { BatchHeldEntry, BatchUsageEntry, SettledHold } from '../../core/journal-format.ts'
import type { ObjectPlace } from '../../core/objects/stored-object.ts'
import { kindOfCounter } from '../../core/policies/policy-limits.ts'
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

/** What batches hold in budgets until their usage is known, which may be days after the call that created them. */
export class BatchHoldStatements {
  readonly #open: Statement<string[]>
  readonly #end: Statement<string[]>
  readonly #find: Statement<string[], { held_json: string }>
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
    this.#find = sqlite.prepare(`select held_json from batch_holds where ${place}`)
    this.#close = sqlite.prepare(`delete from batch_holds where ${place} returning held_json`)
    this.#due = sqlite.prepare(
      `select held_json from batch_holds where ended_at < ? or (ended_at is null and created_at < ?) limit 100`,
    )
  }

  /** False: it is known already, or what it used is, and it holds nothing more. */
  open(entry: BatchHeldEntry): boolean {
    const place = valuesOf({ ...entry.owner, ...entry })
    // A later step knows the earlier ones, and adds its own hold.
    const before = entry.step ? this.#take(place) : []
    const held = { ...entry, hold: [...before, ...entry.hold] }
    return this.#open.run(...place, entry.time, writeJson(held), ...place).changes > 0
  }

  /** JSON of its entry; null: it holds nothing here. */
  find(place: HeldBatch): string | null {
    return this.#find.get(...valuesOf(place))?.held_json ?? null
  }

  /** It holds it no more. */
  #take(place: string[]): BatchHeldEntry['hold'] {
    const row = this.#close.get(...place)
    return row === undefined ? [] : readJson<BatchHeldEntry>(row.held_json).hold
  }

  /** It has ended; its results are still to be read. */
  end(place: HeldBatch, time: string): void {
    this.#end.run(time, ...valuesOf(place))
  }

  /** It holds nothing more. `counters`: what counts it where it held nothing there, made before the budget or by an older gateway. */
  settle(place: HeldBatch, actual: BatchActual, counters: NonNullable<BatchUsageEntry['counters']>): SettledHold[] {
    const held = this.#take(valuesOf(place))
    return [...held, ...counters].map(([counter, period, amount = 0], place, all) => {
      // Steps hold in the same budgets and share the counters: their total is counted once.
      const isLater = all.findIndex(([other]) => other === counter) < place
      const sum = kindOfCounter(counter) === 'usd' ? actual.usd : actual.tokens
      return { counter, period, held: amount, actual: isLater ? 0 : sum }
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
