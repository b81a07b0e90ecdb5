import { useEffect, useState } from 'react'
import type { Column } from '../../../../admin/contract/operation.ts'
import { callOperation } from '../../client/admin.ts'
import { type Fault, faultOf } from '../../client/fault.ts'
import type { DerivedOperation } from '../../contract/derived.ts'
import { Button, ConfirmDialog, DataTable, derivedColumn } from '../../parts/index.ts'
import { fillIn, titleOf } from '../../parts/operation-button.tsx'
import { InputForm } from './input-form.tsx'

const mostRows = 500

interface LiveRow {
  key: number
  row: unknown
}

interface LiveAnswerProps {
  operation: DerivedOperation
  preset: Record<string, string>
  columns: readonly Column[]
  idle: string
}

/** The events of a streaming operation, newest first. */
export function LiveAnswer({ operation, preset, columns, idle }: LiveAnswerProps) {
  const [rows, setRows] = useState<LiveRow[]>([])
  const [input, setInput] = useState<Record<string, unknown> | null>(null)
  const [fault, setFault] = useState<Fault | null>(null)
  /** What waits for a yes. */
  const [pending, setPending] = useState<Record<string, unknown> | null>(null)
  const { effect, summary, confirm } = operation.meta
  useEffect(() => {
    if (input === null) return
    const leaving = new AbortController()
    setFault(null)
    void followOperation(operation, input, leaving.signal, (row) => setRows((all) => [row, ...all].slice(0, mostRows)))
      .catch((error: unknown) => leaving.signal.aborted || setFault(faultOf(error)))
      .finally(() => leaving.signal.aborted || setInput(null))
    return () => leaving.abort()
  }, [input, operation])
  const shown = columns.map((column) => {
    const inner = derivedColumn<unknown>(column)
    return { ...inner, cell: ({ row }: LiveRow) => inner.cell(row) }
  })
  return (
    <div className="stack">
      <InputForm
        operation={operation}
        preset={preset}
        fault={fault}
        onInput={effect === 'danger' ? setPending : setInput}
      >
        <Button variant="primary" type="submit" disabled={input !== null}>
          {effect === 'read' ? 'Start' : 'Run'}
        </Button>
        <Button disabled={input === null} onClick={() => setInput(null)}>
          Stop
        </Button>
      </InputForm>
      <ConfirmDialog
        open={pending !== null}
        title={titleOf(summary)}
        confirm={summary.split(/[ ;,]/, 1)[0] ?? 'Run'}
        onConfirm={async () => setInput(pending)}
        onClose={() => setPending(null)}
      >
        <p>{fillIn(confirm ?? summary, pending ?? {})}</p>
      </ConfirmDialog>
      <DataTable
        cards
        name={`live-${operation.name}`}
        label={operation.name}
        rows={rows}
        columns={shown}
        rowKey={({ key }) => String(key)}
        empty={<p className="quiet">{input === null ? 'No events yet.' : idle}</p>}
      />
    </div>
  )
}

let count = 0

async function followOperation(
  operation: DerivedOperation,
  input: Record<string, unknown>,
  signal: AbortSignal,
  onRow: (row: LiveRow) => void,
): Promise<void> {
  const pushed = (await callOperation(operation.path, input, signal)) as AsyncIterable<unknown>
  for await (const row of pushed) onRow({ key: ++count, row })
}
