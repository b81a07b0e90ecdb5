import { findOperation } from '../../contract/operations.ts'
import { Id, RecordView, Time, UntrustedText } from '../../parts/index.ts'
import { DifferenceTable } from '../difference-table.tsx'
import { findDifferences, pathInWords } from '../differences.ts'
import type { AuditEvent } from '../outputs.ts'

export function AuditLine({ line }: { line: AuditEvent }) {
  return (
    <div className="stack">
      <RecordView
        entries={[
          { label: 'Time', value: <Time at={line.time} absolute /> },
          { label: 'Actor', value: <UntrustedText text={line.actor} /> },
          { label: 'Surface', value: line.surface },
          { label: 'Address', value: <UntrustedText text={line.address} /> },
          { label: 'Resource', value: <UntrustedText text={`${line.resource.kind} ${line.resource.name}`} /> },
          { label: 'Resource ID', value: <Id id={line.resource.id} /> },
          { label: 'Project', value: <UntrustedText text={line.project} /> },
          { label: 'Entry number', value: `${line.sequence}` },
          { label: 'Hash', value: <code className="breakable small">{line.hash}</code> },
        ]}
      />
      <h3>{titleOf(line)}</h3>
      <Details line={line} />
    </div>
  )
}

/** Reads, creations and removals have no before and after: their values are listed once. */
function Details({ line: { before, after } }: { line: AuditEvent }) {
  const differences = findDifferences(before ?? {}, after ?? {})
  if (isThere(before) && isThere(after))
    return <DifferenceTable differences={differences} same="No stored values changed." />
  if (differences.length === 0) return <p className="quiet">No further details are stored.</p>
  const entries = differences.map((one) => ({
    label: pathInWords(one.path),
    value: <UntrustedText text={one.after ?? one.before} />,
  }))
  return <RecordView entries={entries} />
}

const isThere = (side: AuditEvent['before']) => side !== null && side !== undefined

function titleOf({ operation, before, after }: AuditEvent): string {
  if (findOperation(operation)?.meta.effect === 'read') return 'Details'
  if (!isThere(before)) return /\.(add|create)$/.test(operation) ? 'Created' : 'Details'
  return isThere(after) ? 'Changes' : 'Removed'
}
