import type { ReactNode } from 'react'
import type { Column } from '../../../admin/contract/operation.ts'
import { DerivedCell, DerivedValue } from './derived-cell.tsx'
import { labelOf, sentenceCase } from './labels.ts'

export interface RecordEntry {
  label: string
  value: ReactNode
}

/** What is known of one thing: names at the start, values beside them. */
export function RecordView({ entries }: { entries: readonly RecordEntry[] }) {
  return (
    <dl className="record">
      {entries.map(({ label, value }) => (
        <div key={label} className="record-entry">
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Any answer of an operation as entries, by the contract's columns where it has some; `leaveOut` names what is shown elsewhere. */
export function entriesOf(
  answer: unknown,
  leaveOut: readonly string[] = [],
  columns: readonly Column[] = [],
): RecordEntry[] {
  if (typeof answer !== 'object' || answer === null) return [{ label: 'Answer', value: String(answer) }]
  if (columns.length > 0)
    return columns
      .filter(({ field }) => !leaveOut.includes(field))
      .map((column) => ({
        label: sentenceCase(column.title),
        value: <DerivedCell row={answer} column={column} whole />,
      }))
  return Object.entries(answer)
    .filter(([name]) => !leaveOut.includes(name))
    .map(([name, value]) => ({ label: labelOf(name), value: <DerivedValue name={name} value={value} /> }))
}
