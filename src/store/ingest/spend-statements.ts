import type { Database, Statement } from 'better-sqlite3'
import { usdOfNano } from '../../core/cost/money.ts'
import type { BookedAmount, JournalEntry, SettledHold } from '../../core/journal-format.ts'
import { kindOfCounter } from '../../core/policies/policy-limits.ts'
import type { TokenUsage } from '../../core/record.ts'
import type { RecordChange } from '../records/record-head.ts'
import { readJson, writeJson } from '../sqlite/json-column.ts'
import type { InterruptedCharge } from './interrupted.ts'
import type { CountedEntry } from './segment-reader.ts'

export const addSpent = `insert into spend (counter, period, amount) values (?, ?, ?)
  on conflict (counter, period) do update set amount = spend.amount + excluded.amount`

/** What budgets have used, written in the transaction that stores the record: each request once, with its hold or what it came to. */
export class SpendStatements {
  readonly #sums = new Map<string, [counter: string, period: string, amount: number]>()
  readonly #add: Statement<[string, string, number]>
  readonly #open: Statement<[string, string]>
  readonly #raise: Statement<[string, string, string]>
  readonly #close: Statement<[string], { hold_json: string; tokens_json: string | null }>

  constructor(sqlite: Database) {
    this.#add = sqlite.prepare(addSpent)
    this.#open = sqlite.prepare('insert into open_holds (record_id, hold_json) values (?, ?) on conflict do nothing')
    // For a connection whose model became known late, this is the first hold.
    this.#raise = sqlite.prepare(
      `insert into open_holds (hold_json, tokens_json, record_id)
       select ?, ?, id from records where id = ? and state = 'admitted'
       on conflict (record_id) do update set hold_json = excluded.hold_json, tokens_json = excluded.tokens_json`,
    )
    this.#close = sqlite.prepare('delete from open_holds where record_id = ? returning hold_json, tokens_json')
  }

  /** Called for each entry whose record was added or changed. Bookings are added up until `flush`. */
  store(entry: CountedEntry | null, change: RecordChange): void {
    if (entry?.kind === 'admitted' && entry.hold !== undefined)
      this.#open.run(entry.id, writeJson(entry.hold.filter(isBooked)))
    if (entry?.kind !== 'settled' || entry.booked === undefined) return
    // Most requests begin and end in one batch, and have no open hold.
    if (change === 'replaced') this.#close.get(entry.id)
    for (const [counter, period, amount] of entry.booked.filter(isBooked)) {
      const key = `${period} ${counter}`
      this.#sums.getOrInsert(key, [counter, period, 0])[2] += amount
    }
  }

  /** Begins a batch of entries, and drops what is left of one that was rolled back. */
  begin(): void {
    this.#sums.clear()
  }

  /** At its end: each counter is written once, however many requests it counts. */
  flush(): void {
    this.#addAll([...this.#sums.values()])
    this.#sums.clear()
  }

  /** A batch holds it from here on. */
  drop(id: string): void {
    this.#close.get(id)
  }

  /** What batches came to. */
  settle(holds: readonly SettledHold[]): void {
    this.#addAll(holds.map(({ counter, period, actual }) => [counter, period, actual]))
  }

  /** It holds more than before. Nothing where the request has its end. */
  raise({ id, hold, tokens }: Extract<JournalEntry, { kind: 'held' }>): void {
    this.#raise.run(writeJson(hold.filter(isBooked)), writeJson(tokens), id)
  }

  /** A request that will never settle is charged its hold. Null: no budget applied. */
  interrupt(id: string): InterruptedCharge | null {
    const open = this.#close.get(id)
    if (open === undefined) return null
    const held = readJson<BookedAmount[]>(open.hold_json)
    this.#addAll(held)
    // The same amount was held of each of them.
    const inUsd = held.find(([counter]) => kindOfCounter(counter) === 'usd')
    return {
      cost: inUsd === undefined ? null : { usd: usdOfNano(BigInt(inUsd[2])), price_version: 'hold' },
      tokens: open.tokens_json === null ? null : readJson<TokenUsage>(open.tokens_json),
    }
  }

  #addAll(booked: readonly BookedAmount[]): void {
    for (const [counter, period, amount] of booked) if (amount > 0) this.#add.run(counter, period, amount)
  }
}

/** A foreign journal must not stop ingestion. */
function isBooked(found: unknown): found is BookedAmount {
  if (!Array.isArray(found) || found.length !== 3) return false
  const [counter, period, amount] = found
  return typeof counter === 'string' && typeof period === 'string' && Number.isSafeInteger(amount)
}
