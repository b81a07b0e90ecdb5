import { countedTags } from '../../store/records/record-json.ts'
import { SumChanges, type SummedRecord } from '../../store/records/sum-changes.ts'
import { nameChanges } from '../../store/replica/outbox-records.ts'
import {
  type LabelledChange,
  type LabelWords,
  labelColumns,
  type ShippedRecords,
  type ShippedRow,
  shippedColumns,
} from '../../store/replica/outbox-types.ts'

/** Changes of sums that belong together. */
export type RecordChanges = Pick<ShippedRecords, 'sums' | 'tags'>

interface NodeChanges {
  sums: SumChanges
  tags: SumChanges
}

/** Collects how changes to records of any nodes change the sums. */
export class LabelSums {
  readonly #labels: LabelWords[] = []
  readonly #numbers = new Map<string, number>()
  readonly #nodes = new Map<string, NodeChanges>()

  add(node: string, row: ShippedRow, sign: 1 | -1): void {
    const { sums, tags } = this.#nodes.get(node) ?? { sums: new SumChanges('hour'), tags: new SumChanges('day') }
    this.#nodes.set(node, { sums, tags })
    const record = readSummed(row, this.#number(row.slice(firstLabel, firstLabel + labelColumns.length)))
    sums.add(record, sign)
    for (const tag of countedTags(String(row[placeOf('record_json')]))) tags.add(record, sign, tag)
  }

  take(): RecordChanges {
    const name = (of: keyof NodeChanges): LabelledChange[] =>
      [...this.#nodes].flatMap(([node, changes]) =>
        nameChanges(node, changes[of], (number) => this.#labels[number] ?? []),
      )
    return { sums: name('sums'), tags: name('tags') }
  }

  #number(values: LabelWords): number {
    const text = JSON.stringify(values)
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    const number = this.#labels.push(values) - 1
    this.#numbers.set(text, number)
    return number
  }
}

const places = new Map(shippedColumns.map((name, place) => [name, place]))
const placeOf = (name: (typeof shippedColumns)[number]) => places.get(name) ?? 0
const firstLabel = placeOf('lane')

function readSummed(row: ShippedRow, label: number): SummedRecord {
  const text = (name: (typeof shippedColumns)[number]) => row[placeOf(name)] as string | null
  const amount = (name: (typeof shippedColumns)[number]) => row[placeOf(name)] as number | null
  return {
    id: text('id') ?? '',
    time: text('time') ?? '',
    state: text('state') as SummedRecord['state'],
    label,
    status: amount('status'),
    error_code: text('error_code'),
    input: amount('input'),
    output: amount('output'),
    cache_read: amount('cache_read'),
    cache_write: amount('cache_write'),
    reasoning: amount('reasoning'),
    usd: amount('usd'),
    duration_ms: amount('duration_ms'),
    first_byte_ms: amount('first_byte_ms'),
  }
}
