import type { ReactNode } from 'react'
import type { Column } from '../../../../admin/contract/operation.ts'
import { absent, formatCell } from '../../../../admin/contract/show-value.ts'
import { operationNamed } from '../../contract/operations.ts'
import { derivedColumn, type TableColumn } from '../../parts/index.ts'

interface ContractColumnsOptions<Row> {
  buttons?: ((row: Row) => ReactNode) | undefined
  /** Of the column of buttons. */
  width?: string
  /** The same where there is less room. */
  middleWidth?: string
  /** What a column has otherwise than the contract says, by its field. */
  change?: Record<string, Partial<TableColumn<Row>>>
}

/** The columns that the contract gives a list, with the row's buttons behind them. What no row has waits to be chosen. */
export function contractColumns<Row>(
  operation: string,
  rows: readonly Row[],
  { buttons, width = '176px', middleWidth = width, change = {} }: ContractColumnsOptions<Row>,
): TableColumn<Row>[] {
  const { show } = operationNamed(operation).meta
  const columns = show.as === 'table' ? show.columns : []
  const own = columns.map((column) => ({ ...columnOf(column, rows), ...change[column.field] }))
  if (buttons === undefined) return own
  const cell = (row: Row) => <span className="row row-buttons">{buttons(row)}</span>
  return [...own, { id: 'buttons', title: 'Actions', width, middleWidth, cell }]
}

function columnOf<Row>(column: Column, rows: readonly Row[]): TableColumn<Row> {
  const isEmpty = rows.every((row) => formatCell(row, column, { now: 0, utc: false }) === absent)
  return { ...derivedColumn<Row>(column), optional: isEmpty }
}
