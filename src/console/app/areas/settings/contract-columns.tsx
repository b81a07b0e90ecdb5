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
  const own = show.as === 'table' ? show.columns.map((column) => derivedColumn<Row>(column)) : []
  if (buttons === undefined) return own
  return [
    ...own,
    {
      id: 'buttons',
      title: 'Actions',
      width,
      cell: (row) => <span className="row row-buttons">{buttons(row)}</span>,
    },
  ]
}
