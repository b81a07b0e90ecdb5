import type { Database, Statement } from 'better-sqlite3'
import { periodOf } from './label-periods.ts'
import type { RecordHead } from './record-head.ts'

type LabelTuple = (string | number | null)[]

/** Numbers kept in memory: models are the clients' own words, so there may be any number of them. */
const keptNumbers = 5000

/**
 * The numbers of labels: lane, project, environment, key, provider, model and whether it is a copy for a shadow target. Every
 * record has one combination of them, and thousands of records the same.
 */
export class LabelNumbers {
  readonly #known = new Map<string, number>()
  /** By label: the period that was noted last. */
  readonly #noted = new Map<number, string>()
  readonly #find: Statement<LabelTuple, { number: number }>
  readonly #add: Statement<LabelTuple>
  readonly #note: Statement<LabelTuple>

  constructor(sqlite: Database) {
    const names = ['key_id', 'model', 'provider', 'lane', 'project', 'environment', 'key_name', 'shadow']
    const same = names.map((name) => `${name} is ?`).join(' and ')
    this.#find = sqlite.prepare(`select number from record_labels where ${same}`)
    this.#add = sqlite.prepare(`insert into record_labels (${names}) values (${names.map(() => '?')})`)
    this.#note = sqlite.prepare('insert or ignore into label_periods (label, period) values (?, ?)')
  }

  /** The number of a record's label, which from now on is known to occur in the record's period. */
  occur(head: RecordHead): number {
    const number = this.#numberOf(head)
    const period = periodOf(head.id)
    if (this.#noted.get(number) === period) return number
    this.#note.run(number, period)
    if (this.#noted.size >= keptNumbers) this.#noted.clear()
    this.#noted.set(number, period)
    return number
  }

  #numberOf({ lane, project, environment, key, provider, model, shadow_of }: RecordHead): number {
    // Names are slugs, and the model is the client's own text: so it comes last, and nothing is taken for something else.
    const shadow = shadow_of === null ? 0 : 1
    const end = model === null ? '' : `=${model}`
    const name = `${shadow}\n${lane}\n${project}\n${environment}\n${key?.id}\n${key?.name}\n${provider}\n${end}`
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const values = [key?.id ?? null, model, provider, lane, project, environment, key?.name ?? null, shadow]
    const number = this.#find.get(...values)?.number ?? Number(this.#add.run(...values).lastInsertRowid)
    if (this.#known.size >= keptNumbers) this.#known.clear()
    this.#known.set(name, number)
    return number
  }

  /** For when what was added is undone, or what was there is removed. */
  forget(): void {
    this.#known.clear()
    this.#noted.clear()
  }
}
