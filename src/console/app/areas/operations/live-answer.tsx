import { useEffect, useState } from 'react'
import type { Column } from '../../../../admin/contract/operation.ts'
import { callOperation } from '../../client/admin.ts'
import type { DerivedOperation } from '../../contract/derived.ts'
import { Button, DataTable, derivedColumn, toastFault } from '../../parts/index.ts'

const mostRows = 500

interface LiveRow {
  key: number
  row: unknown
}

/** What an operation pushes, newest first, for as long as somebody listens. */
export function LiveAnswer({ operation, columns }: { operation: DerivedOperation; columns: readonly Column[] }) {
  const [rows, setRows] = useState<LiveRow[]>([])
  const [listening, setListening] = useState(false)
  useEffect(() => {
    if (!listening) return
    const leaving = new AbortController()
    void listen(operation, leaving.signal, (row) => setRows((all) => [row, ...all].slice(0, mostRows)))
      .catch((error: unknown) => leaving.signal.aborted || toastFault(error))
      .finally(() => setListening(false))
    return () => leaving.abort()
  }, [listening, operation])
  const shown = columns.map((column) => {
    const inner = derivedColumn<unknown>(column)
    return { ...inner, cell: ({ row }: LiveRow) => inner.cell(row) }
  })
  return (
    <div className="stack">
      <div>
        <Button look="primary" onClick={() => setListening(!listening)}>
          {listening ? 'Stop' : 'Listen'}
        </Button>
      </div>
      <DataTable
        name={`live-${operation.name}`}
        label={operation.name}
        rows={rows}
        columns={shown.length > 0 ? shown : [{ id: 'row', title: 'Said', cell: ({ row }) => JSON.stringify(row) }]}
        rowKey={({ key }) => String(key)}
        empty={<p className="quiet">{listening ? 'Listening.' : 'Nothing heard yet.'}</p>}
      />
    </div>
  )
}

let count = 0

async function listen(operation: DerivedOperation, signal: AbortSignal, hear: (row: LiveRow) => void): Promise<void> {
  const pushed = (await callOperation(operation.path, {}, signal)) as AsyncIterable<unknown>
  for await (const row of pushed) hear({ key: ++count, row })
}
