import { maskKeys } from '../../core/secrets/mask-keys.ts'
import { labelColumns } from '../../store/replica/outbox-types.ts'
import type { RecordLabelsRow } from '../../store/schema.ts'

export type Labelled = Omit<RecordLabelsRow, 'number'>

/** Numbers labels in the order in which they are met. The newest comes first, so the newest has the greatest number. */
export class MetLabels {
  readonly known = new Map<number, RecordLabelsRow>()
  readonly #numbers = new Map<string, number>()

  number(row: Labelled): number {
    const words = labelColumns.map((column) => row[column])
    const text = JSON.stringify(words)
    const found = this.#numbers.get(text)
    if (found !== undefined) return found
    const number = Number.MAX_SAFE_INTEGER - this.#numbers.size
    this.#numbers.set(text, number)
    const { lane, project, environment, key_id, key_name, provider, shadow } = row
    // As `readLabels` does: earlier versions wrote keys that a client had sent in its place.
    const model = row.model && maskKeys(row.model)
    this.known.set(number, { number, lane, project, environment, key_id, key_name, model, provider, shadow })
    return number
  }
}
