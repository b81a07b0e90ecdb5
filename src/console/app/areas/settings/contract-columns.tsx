import type { ReactNode } from 'react'
import type { Column } from '../../../../admin/contract/operation.ts'
import { absent, formatCell } from '../../../../admin/contract/show-value.ts'
import { operationNamed } from '../../contract/operations.ts'
import { derivedColumn, type TableColumn } from '../../parts/index.ts'

/** The columns that the contract gives a list, with the row's buttons behind them. What no row has waits to be chosen. */
export function contractColumns<Row>(
  operation: string,
  rows: readonly Row[],
  buttons?: (row: Row) => ReactNode,
  width = '176px',
): TableColumn<Row>[] {
  const { show } = operationNamed(operation).meta
  const own = show.as === 'table' ? show.columns.map((column) => columnOf(column, rows)) : []
  if (buttons === undefined) return own
  const cell = (row: Row) => <span className="row row-buttons">{buttons(row)}</span>
  return [...own, { id: 'buttons', title: 'Actions', width, cell }]
}

function columnOf<Row>(column: Column, rows: readonly Row[]): TableColumn<Row> {
  const isEmpty = rows.every((row) => formatCell(row, column, { now: 0, utc: false }) === absent)
  return { ...derivedColumn<Row>(column), optional: isEmpty }
}
