import type { ReactNode } from 'react'
import { operationNamed } from '../../contract/operations.ts'
import { derivedColumn, type TableColumn, WhereNarrow } from '../../parts/index.ts'

/** The columns that the contract gives a list, with the row's buttons behind them. */
export function contractColumns<Row>(
  operation: string,
  buttons?: (row: Row) => ReactNode,
  width = '200px',
): TableColumn<Row>[] {
  const { show } = operationNamed(operation).meta
  const all = show.as === 'table' ? show.columns.map((column) => derivedColumn<Row>(column)) : []
  const state = show.as === 'table' ? show.columns.findIndex(({ format }) => format === 'state') : -1
  // A narrow window has room for the name with the state below it, and for the buttons or one column more.
  const own = all.map((column, index) => {
    if (index === 0) return withBelow(column, all[state])
    return index === 1 && state !== 1 && buttons === undefined ? column : { ...column, wideOnly: true }
  })
  if (buttons === undefined) return own
  return [
    ...own,
    {
      id: 'buttons',
      title: 'Actions',
      width,
      narrowWidth: '178px',
      cell: (row) => <span className="row row-buttons">{buttons(row)}</span>,
    },
  ]
}

function withBelow<Row>(column: TableColumn<Row>, state: TableColumn<Row> | undefined): TableColumn<Row> {
  if (state === undefined) return column
  return {
    ...column,
    cell: (row) => (
      <>
        {column.cell(row)}
        <WhereNarrow>{state.cell(row)}</WhereNarrow>
      </>
    ),
  }
}
