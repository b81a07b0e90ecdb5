import { findOperation } from '../../contract/operations.ts'
import { Id, Outside, RecordView, Time } from '../../parts/index.ts'
import { DifferenceTable } from '../difference-table.tsx'
import { findDifferences } from '../differences.ts'
import type { AuditEvent } from '../outputs.ts'

export function AuditLine({ line }: { line: AuditEvent }) {
  const differences = findDifferences(line.before ?? {}, line.after ?? {})
  return (
    <div className="stack">
      <RecordView
        entries={[
          { label: 'When', value: <Time at={line.time} absolute /> },
          { label: 'Who', value: <Outside text={line.actor} /> },
          { label: 'Through', value: line.surface },
          { label: 'From', value: <Outside text={line.address} /> },
          { label: 'Resource', value: <Outside text={`${line.resource.kind} ${line.resource.name}`} /> },
          { label: 'Resource ID', value: <Id id={line.resource.id} /> },
          { label: 'Project', value: <Outside text={line.project} /> },
          { label: 'Line', value: `${line.sequence}` },
          { label: 'Hash', value: <code className="breakable small">{line.hash}</code> },
        ]}
      />
      <h3>{titleOf(line)}</h3>
      <DifferenceTable differences={differences} same="It changed nothing that is kept." />
    </div>
  )
}

function titleOf({ operation, before, after }: AuditEvent): string {
  if (findOperation(operation)?.meta.effect === 'read') return 'What was read'
  if (before === null || before === undefined) return 'What was made'
  return after === null || after === undefined ? 'What was removed' : 'What was changed'
}
