import type { ReactNode } from 'react'
import { withoutUnit } from '../../../admin/contract/show-value.ts'
import { DerivedValue } from './derived-cell.tsx'

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

/** Any answer of an operation as entries; `leaveOut` names what is shown elsewhere. */
export function entriesOf(answer: unknown, leaveOut: readonly string[] = []): RecordEntry[] {
  if (typeof answer !== 'object' || answer === null) return [{ label: 'Answer', value: String(answer) }]
  return Object.entries(answer)
    .filter(([name]) => !leaveOut.includes(name))
    .map(([name, value]) => ({ label: labelOf(name), value: <DerivedValue name={name} value={value} /> }))
}

/** `first_byte_ms` → `First byte`, `baseUrl` → `Base url`. */
export function labelOf(name: string): string {
  const words = withoutUnit(name)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase()
    .replace(/\burl\b/g, 'URL')
    .replace(/\bid\b/g, 'ID')
    .replace(/\bopenai\b/g, 'OpenAI')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
