import type { ReactNode } from 'react'
import { operationNamed } from '../../contract/operations.ts'
import { derivedColumn, type TableColumn } from '../../parts/index.ts'

/** The columns that the contract gives a list, with the row's buttons behind them. */
export function contractColumns<Row>(
  operation: string,
  buttons?: (row: Row) => ReactNode,
  width = '200px',
): TableColumn<Row>[] {
  const { show } = operationNamed(operation).meta
  const all = show.as === 'table' ? show.columns.map((column) => derivedColumn<Row>(column)) : []
  // A narrow window has room for the name and the buttons.
  const own = all.map((column, index) =>
    index === 0 || buttons === undefined ? column : { ...column, wideOnly: true },
  )
  if (buttons === undefined) return own
  return [
    ...own,
    {
      id: 'buttons',
      title: 'Actions',
      width: `min(${width}, 55vw)`,
      cell: (row) => <span className="row row-buttons">{buttons(row)}</span>,
    },
  ]
}
