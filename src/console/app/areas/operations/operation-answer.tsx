import type { Show } from '../../../../admin/contract/operation.ts'
import { valueAt } from '../../../../admin/contract/show-value.ts'
import { Code, DataTable, derivedColumn, entriesOf, RecordView } from '../../parts/index.ts'

interface AnswerRow {
  key: string
  row: unknown
}

/** An answer as its operation says it is shown. */
export function OperationAnswer({ show, answer, name }: { show: Show; answer: unknown; name: string }) {
  if (show.as === 'table' && Array.isArray(answer)) {
    const rows: AnswerRow[] = answer.map((row: unknown, index) => ({ key: String(index), row }))
    const columns = show.columns.map((column) => {
      const inner = derivedColumn<unknown>(column)
      return { ...inner, cell: ({ row }: AnswerRow) => inner.cell(row) }
    })
    return (
      <DataTable
        cards
        name={`operation-${name}`}
        label={name}
        rows={rows}
        columns={columns}
        rowKey={({ key }) => key}
        empty={<p className="quiet">{show.empty}</p>}
      />
    )
  }
  const once = show.as === 'once' ? valueAt(answer, show.field) : undefined
  return (
    <section className="stack" aria-label="Result">
      {typeof once === 'string' ? (
        <>
          <p>Shown only once. Copy it now.</p>
          <Code text={once} />
        </>
      ) : null}
      <RecordView entries={entriesOf(answer, show.as === 'once' ? [show.field] : [])} />
    </section>
  )
}
