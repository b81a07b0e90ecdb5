import type { SummedRecord } from '../../store/records/sum-changes.ts'
import { type SumChange, SumChanges } from '../../store/records/sum-changes.ts'
import type { ShippedRow } from '../../store/replica/outbox-types.ts'
import { shippedColumns } from '../../store/replica/outbox-types.ts'

export const labelColumns = [
  'lane',
  'project',
  'environment',
  'key_id',
  'key_name',
  'model',
  'provider',
  'shadow',
] as const
type LabelWords = (string | number | null)[]

/** What records of one node change in its sums, with what a label stands for in words. */
export interface LabelledChange {
  node: string
  /** Tells labels apart. */
  label: string
  values: LabelWords
  change: SumChange
}

/** Gathers what a batch changes in the sums of each node: hours and days. Weeks would not go when a day's table does. */
export class LabelSums {
  readonly #labels: { text: string; values: LabelWords }[] = []
  readonly #numbers = new Map<string, number>()
  readonly #nodes = new Map<string, SumChanges>()

  add(node: string, row: ShippedRow, sign: 1 | -1): void {
    const sums = this.#nodes.get(node) ?? new SumChanges('hour')
    this.#nodes.set(node, sums)
    sums.add(readSummed(row, this.#number(row.slice(firstLabel, firstLabel + labelColumns.length))), sign)
  }

  /** In one order for everybody. */
  take(): LabelledChange[] {
    const changes = [...this.#nodes].flatMap(([node, sums]) =>
      sums
        .take()
        .filter(({ key: [span] }) => span !== 'week')
        .map((change) => {
          const { text = '', values = [] } = this.#labels[change.key[2]] ?? {}
          return { node, label: text, values, change }
        }),
    )
    return changes.sort((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1))
  }

  #number(values: LabelWords): number {
    const text = JSON.stringify(values)
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    const number = this.#labels.push({ text, values }) - 1
    this.#numbers.set(text, number)
    return number
  }
}

function sortKey({ node, label, change: { key } }: LabelledChange): string {
  const [span, start, , state, status, error] = key
  return [span, start, node, label, state, status, error].join('\n')
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
