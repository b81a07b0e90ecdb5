import { ArrowDown, ArrowUp } from 'lucide-react'
import { useMemo, useState } from 'react'
import { sortRows } from './sort-rows.ts'
import type { TableColumn } from './table-columns.tsx'

export interface TableSort<Row> {
  rows: readonly Row[]
  /** The column that the rows are sorted by; null: they are in their own order. */
  by: string | null
  descending: boolean
  /** Numbers begin with the largest; a second press turns the order, a third takes it away. */
  press(column: TableColumn<Row>): void
}

type Order = { by: string; descending: boolean } | null

export function useSort<Row>(rows: readonly Row[], columns: readonly TableColumn<Row>[]): TableSort<Row> {
  const [order, setOrder] = useState<Order>(null)
  const column = order === null ? undefined : columns.find(({ id }) => id === order.by)
  const read = column?.sort
  const descending = order?.descending === true
  const sorted = useMemo(() => (read === undefined ? rows : sortRows(rows, read, descending)), [rows, read, descending])
  const press = ({ id, number = false }: TableColumn<Row>) =>
    setOrder((before) => {
      if (before?.by !== id) return { by: id, descending: number }
      return before.descending === number ? { by: id, descending: !number } : null
    })
  return { rows: sorted, by: column?.id ?? null, descending, press }
}

export function SortButton<Row>({ column, sort }: { column: TableColumn<Row>; sort: TableSort<Row> }) {
  const isOn = sort.by === column.id
  return (
    <button type="button" className="table-sort" onClick={() => sort.press(column)}>
      {column.title}
      {isOn && sort.descending ? <ArrowDown size={12} aria-hidden="true" /> : null}
      {isOn && !sort.descending ? <ArrowUp size={12} aria-hidden="true" /> : null}
    </button>
  )
}
