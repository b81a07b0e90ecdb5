import type { Column, Show } from '../../../../admin/contract/operation.ts'
import { isLimitUsage } from '../../../../admin/contract/show-limit.ts'
import { rowsOf } from '../../../../admin/contract/show-rows.ts'
import { absent, formatCell, guessFormat, valueAt } from '../../../../admin/contract/show-value.ts'
import { Code, DataTable, derivedColumn, entriesOf, RecordView, type TableColumn } from '../../parts/index.ts'
import { labelOf } from '../../parts/labels.ts'

interface AnswerRow {
  key: string
  row: unknown
}

/** An answer as its operation says it is shown. */
export function OperationAnswer({ show, answer, name }: { show: Show; answer: unknown; name: string }) {
  if (show.as === 'table') {
    const rows = rowsOf(show, answer)
    return <AnswerTable name={`operation-${name}`} label={name} rows={rows} of={show.columns} empty={show.empty} />
  }
  const once = show.as === 'once' ? valueAt(answer, show.field) : undefined
  const lists = listsOf(answer)
  const elsewhere = [...(show.as === 'once' ? [show.field] : []), ...lists.map(([field]) => field)]
  return (
    <section className="stack" aria-label="Result">
      {typeof once === 'string' ? (
        <>
          <p>Shown only once. Copy it now.</p>
          <Code text={once} />
        </>
      ) : null}
      <RecordView entries={entriesOf(answer, elsewhere, show.as === 'record' ? show.columns : undefined)} />
      {lists.map(([field, rows]) => (
        <section key={field} className="stack-tight">
          <h2>{labelOf(field)}</h2>
          <AnswerTable name={`operation-${name}-${field}`} label={labelOf(field)} rows={rows} />
        </section>
      ))}
    </section>
  )
}

/** Lists of objects in an answer: each is a table below what else there is. Limits are said in a line each. */
function listsOf(answer: unknown): [field: string, rows: unknown[]][] {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return []
  return Object.entries(answer).flatMap(([field, value]): [string, unknown[]][] => {
    const rows: unknown[] = Array.isArray(value) ? value : []
    const objects = rows.filter((row) => typeof row === 'object' && row !== null && !isLimitUsage(row))
    return rows.length > 0 && objects.length === rows.length ? [[field, objects]] : []
  })
}

/** Of rows that the contract does not describe: what any of them has. */
function columnsOf(rows: readonly unknown[]): Column[] {
  return Object.keys(rows[0] ?? {})
    .map((field) => ({ field, title: labelOf(field), format: guessFormat(field) }))
    .filter((column) => rows.some((row) => formatCell(row, column, { now: 0, utc: false }) !== absent))
}

interface AnswerTableProps {
  name: string
  label: string
  rows: readonly unknown[]
  /** Without them, every field of the first row. */
  of?: readonly Column[]
  empty?: string
}

function AnswerTable({ name, label, rows, of = columnsOf(rows), empty = '' }: AnswerTableProps) {
  const columns = of.map((column): TableColumn<AnswerRow> => {
    const inner = derivedColumn<unknown>(column)
    return { ...inner, cell: ({ row }: AnswerRow) => inner.cell(row) }
  })
  return (
    <DataTable
      cards
      name={name}
      label={label}
      rows={rows.map((row, index): AnswerRow => ({ key: String(index), row }))}
      columns={columns}
      rowKey={({ key }) => key}
      empty={<p className="quiet">{empty}</p>}
    />
  )
}
