import { SumChanges, type SummedRecord } from '../../store/records/sum-changes.ts'
import { nameChanges } from '../../store/replica/outbox-records.ts'
import {
  type LabelledChange,
  type LabelWords,
  labelColumns,
  type ShippedRow,
  shippedColumns,
} from '../../store/replica/outbox-types.ts'

/** Gathers what records of any nodes change in their sums. */
export class LabelSums {
  readonly #labels: LabelWords[] = []
  readonly #numbers = new Map<string, number>()
  readonly #nodes = new Map<string, SumChanges>()

  add(node: string, row: ShippedRow, sign: 1 | -1): void {
    const sums = this.#nodes.get(node) ?? new SumChanges('hour')
    this.#nodes.set(node, sums)
    sums.add(readSummed(row, this.#number(row.slice(firstLabel, firstLabel + labelColumns.length))), sign)
  }

  take(): LabelledChange[] {
    return [...this.#nodes].flatMap(([node, sums]) => nameChanges(node, sums, (number) => this.#labels[number] ?? []))
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
