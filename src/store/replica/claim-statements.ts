import type { Database, Statement } from 'better-sqlite3'
import type { BatchHeldEntry, BatchUsageEntry } from '../../core/journal-format.ts'
import type { HeldBatch } from '../ingest/batch-hold-statements.ts'
import { readJson, writeJson } from '../sqlite/json-column.ts'
import {
  type ClaimPage,
  isClaimable,
  placeOf,
  type UsageClaim,
  type WaitingUsage,
  type WorkRow,
} from './usage-claim.ts'

export type WaitingEntry = BatchUsageEntry | BatchHeldEntry

interface ClaimRow {
  number: number
  noted_at: string
  entry_json: string
}

const claimsAtOnce = 200
const holdsAtOnce = 1000

/** What background work used, or is to be charged, until it is known which node counts it. */
export class ClaimStatements {
  readonly #note: Statement<string[]>
  readonly #page: Statement<[number, number], ClaimRow>
  readonly #find: Statement<[number], ClaimRow>
  readonly #drop: Statement<[number]>
  readonly #waiting: Statement<[], WaitingUsage>
  readonly #all: Statement<[], { entry_json: string }>
  readonly #maker: Statement<[string], { state: string }>
  readonly #holds: Statement<(string | number)[], WorkRow>

  constructor(sqlite: Database) {
    // Where it is charged for being unread, and was read after all, it is what the results say.
    this.#note = sqlite.prepare(
      `insert into waiting_usage (batch_id, provider_id, credential_id, noted_at, kind, entry_json)
       select ?, ?, ?, ?, ?, ? where not exists (
         select 1 from counted_batches where id = ? and provider_id = ? and credential_id = ?)
       on conflict (batch_id, provider_id, credential_id) do update
       set kind = excluded.kind, entry_json = excluded.entry_json
       where waiting_usage.kind = 'batch-held' and excluded.kind = 'batch-usage'`,
    )
    const columns = 'number, noted_at, entry_json'
    this.#page = sqlite.prepare(`select ${columns} from waiting_usage where number > ? order by number limit ?`)
    this.#find = sqlite.prepare(`select ${columns} from waiting_usage where number = ?`)
    this.#drop = sqlite.prepare('delete from waiting_usage where number = ?')
    this.#waiting = sqlite.prepare('select count(*) as usage, min(noted_at) as usageSince from waiting_usage')
    this.#all = sqlite.prepare('delete from waiting_usage returning entry_json')
    this.#maker = sqlite.prepare('select state from records where id = ?')
    this.#holds = sqlite.prepare(
      `select batch_id as id, provider_id, credential_id from batch_holds
       where (batch_id, provider_id, credential_id) > (?, ?, ?)
       order by batch_id, provider_id, credential_id limit ?`,
    )
  }

  /** False: it is of no kind that nodes can agree upon, and this one counts it by itself. */
  note(entry: WaitingEntry): boolean {
    const { batchId, owner, kind } = entry
    if (!isClaimable(batchId) || (isAnswer(entry) && makerOf(entry) === null)) return false
    const place = [batchId, owner.providerId, owner.credentialId ?? '']
    this.#note.run(...place, new Date().toISOString(), kind, writeJson(entry), ...place)
    return true
  }

  /** The next behind that number. An answer whose own call goes on here is not asked for yet: nobody knows what is left of it. */
  list(after: number): ClaimPage {
    const rows = this.#page.all(after, claimsAtOnce)
    const claims = rows.flatMap(({ number, entry_json }): UsageClaim[] => {
      const entry = readJson<WaitingEntry>(entry_json)
      const { batchId, owner, type = 'batch' } = entry
      const maker = isAnswer(entry) ? makerOf(entry) : null
      const made = maker === null ? undefined : this.#maker.get(maker)
      if (made?.state === 'admitted') return []
      const { providerId, credentialId } = owner
      return [{ number, batchId, providerId, credentialId, type, maker: made === undefined ? maker : null }]
    })
    const last = rows.length < claimsAtOnce ? null : (rows.at(-1)?.number ?? null)
    return { claims, last, waiting: this.measure() }
  }

  measure(): WaitingUsage {
    // A sum is always one row.
    return this.#waiting.get() as WaitingUsage
  }

  find(number: number): { entry: WaitingEntry; notedAt: string } | null {
    const row = this.#find.get(number)
    return row === undefined ? null : { entry: readJson<WaitingEntry>(row.entry_json), notedAt: row.noted_at }
  }

  drop(number: number): void {
    this.#drop.run(number)
  }

  /** All that waits, which waits no more. */
  takeAll(): WaitingEntry[] {
    return this.#all.all().map(({ entry_json }) => readJson<WaitingEntry>(entry_json))
  }

  /** Of what this node holds budget for; behind that place, null at first. */
  listHolds(after: HeldBatch | null): HeldBatch[] {
    const { batchId = '', providerId = '', credentialId = null } = after ?? {}
    return this.#holds.all(batchId, providerId, credentialId ?? '', holdsAtOnce).map(placeOf)
  }
}

/** Of what it used, a part may stand on the record of the call that made it. */
function isAnswer({ kind, type }: WaitingEntry): boolean {
  return kind === 'batch-usage' && (type === 'response' || type === 'interaction')
}

function makerOf(entry: WaitingEntry): string | null {
  return entry.kind === 'batch-usage' ? (entry.madeBy ?? null) : null
}
