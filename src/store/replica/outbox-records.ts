import type { Database, Statement } from 'better-sqlite3'
import { maskGatewayKeys } from '../../core/secrets/gateway-key.ts'
import { maskKeys, mayHoldKey } from '../../core/secrets/mask-keys.ts'
import { type StoredRecord, storedColumns } from '../records/record-columns.ts'
import { countedTags } from '../records/record-json.ts'
import { SumChanges } from '../records/sum-changes.ts'
import { copiable, copyJson, copyLine, copyValue } from './copy-text.ts'
import { type LabelledChange, type LabelWords, labelColumns, type ShippedRecords } from './outbox-types.ts'

/** With how many refusals share it, and when the last of them was. */
type WaitingRecord = [...StoredRecord, repeats: number | null, lastTime: string | null]

/** The migration that came with the first version that hides vendors' keys in what it stores. */
const firstMasking = '0034-removal-clock'

const usualRoom = 1024 * 1024
const mostRoom = 16 * usualRoom

/** What reads records that are to be shipped. */
export class OutboxRecords {
  readonly rows: Statement<[string], WaitingRecord>
  readonly label: Statement<[number], LabelWords>
  /** What was stored before may hold vendors' keys. To search what came later as well would cost more than all else. */
  readonly maskedSince: string
  /** Where a batch is written, and the next one after it: new memory would cost as much as what is written into it. */
  room = Buffer.allocUnsafeSlow(usualRoom)

  constructor(sqlite: Database) {
    // What most records have not is looked up for those alone that can have it.
    const repeated = (column: string) =>
      `case when r.error_code is not null then (select ${column} from repeated_records where id = r.id) end`
    this.rows = sqlite
      .prepare<[string], WaitingRecord>(
        `select ${storedColumns.map((name) => `r.${name}`)}, ${repeated('count')}, ${repeated('last_time')}
         from json_each(?) i join records r on r.id = i.value where r.state <> 'admitted'`,
      )
      .raw()
    this.label = sqlite
      .prepare<[number], LabelWords>(`select ${labelColumns.join(', ')} from record_labels where number = ?`)
      .raw()
    this.maskedSince = String(
      sqlite.prepare('select timestamp from kysely_migration where name = ?').pluck().get(firstMasking) ?? '~',
    )
  }
}

/** UTF-8 has no more for one of UTF-16's. */
const bytesOfUnit = 3

const figure = (value: number | null) => value ?? '\\N'

/** What comes together in one batch. Only one is made at a time: they share the room. */
export class RecordsBatch {
  readonly ids: string[] = []
  #length = 0
  readonly #sums = new SumChanges('hour')
  readonly #tags = new SumChanges('day')
  readonly #labels = new Map<number, { words: LabelWords; text: string }>()
  readonly #records: OutboxRecords
  readonly #node: string
  readonly #begin: string

  /** `node`: as PostgreSQL's records name it. */
  constructor(records: OutboxRecords, node: string) {
    this.#records = records
    this.#node = node
    this.#begin = `${copyValue(node)}\t`
  }

  get bytes(): number {
    return this.#length
  }

  /** Of these what is here. */
  read(ids: readonly string[]): void {
    for (const row of this.#records.rows.all(JSON.stringify(ids))) this.add(row)
  }

  take(): ShippedRecords {
    const copied = new Uint8Array(this.#records.room.subarray(0, this.#length))
    // What a batch of large records needed is given back.
    if (this.#records.room.length > mostRoom) this.#records.room = Buffer.allocUnsafeSlow(usualRoom)
    const name = (sums: SumChanges) => nameChanges(this.#node, sums, (number) => this.#labelOf(number).words)
    return { ids: this.ids, copied, sums: name(this.#sums), tags: name(this.#tags) }
  }

  /** The line in the order of `shippedColumns`, with the node before them. Only texts can have anything that is special. */
  add(row: WaitingRecord | StoredRecord): void {
    const [id, , state, time, label, status, error_code, input, output, cache_read, cache_write, reasoning, ...rest] =
      row
    const [usd, duration_ms, record, first_byte_ms, attempts, repeats = null, lastTime = null] = rest
    const tokens = { input, output, cache_read, cache_write, reasoning }
    this.ids.push(id)
    const summed = { id, time, state, label, status, error_code, ...tokens, usd, duration_ms, first_byte_ms }
    const text = time < this.#records.maskedSince ? maskOld(record) : maskGatewayKeys(record)
    this.#sums.add(summed, 1)
    for (const tag of countedTags(text)) this.#tags.add(summed, 1, tag)
    const begin = `${this.#begin}${id}\t${state}\t${time}\t${this.#labelOf(label).text}`
    const outcome = `${figure(status)}\t${copyValue(error_code)}`
    const used = `${figure(input)}\t${figure(output)}\t${figure(cache_read)}\t${figure(cache_write)}\t${figure(reasoning)}`
    const figures = `${used}\t${figure(usd)}\t${figure(duration_ms)}\t${figure(first_byte_ms)}`
    const texts = `${copyJson(attempts)}\t${copyJson(text)}`
    this.#write(`${begin}\t${outcome}\t${figures}\t${texts}\t${figure(repeats)}\t${copyValue(lastTime)}\n`)
  }

  /** At once: thousands of lines that wait would be moved about by each collection of garbage. */
  #write(line: string): void {
    const { room } = this.#records
    const most = this.#length + line.length * bytesOfUnit
    if (most > room.length) {
      this.#records.room = Buffer.allocUnsafeSlow(Math.max(most, room.length * 2))
      room.copy(this.#records.room, 0, 0, this.#length)
    }
    this.#length += this.#records.room.write(line, this.#length)
  }

  /** Earlier versions stored keys that clients had put into texts. */
  #labelOf(number: number): { words: LabelWords; text: string } {
    const known = this.#labels.get(number)
    if (known !== undefined) return known
    const stored = this.#records.label.get(number) ?? labelColumns.map(() => null)
    const words = stored.map((word, place) => {
      if (typeof word !== 'string') return word
      return labelColumns[place] === 'model' ? maskOld(copiable(word)) : maskGatewayKeys(copiable(word))
    })
    const label = { words, text: copyLine(words) }
    this.#labels.set(number, label)
    return label
  }
}

function maskOld(text: string): string {
  return mayHoldKey(text) ? maskKeys(text) : maskGatewayKeys(text)
}

/** Hours and days of one node. Weeks would not go when a day's table does. */
export function nameChanges(node: string, sums: SumChanges, wordsOf: (label: number) => LabelWords): LabelledChange[] {
  const ofSpans = sums.take().filter(({ key: [span] }) => span !== 'week')
  return ofSpans.map((change) => {
    const values = wordsOf(change.key[2])
    return { node, label: JSON.stringify(values), values, change }
  })
}
