import { useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, type ReactNode, type Ref, useEffect, useImperativeHandle, useRef } from 'react'
import { mostAligned } from '../../../admin/contract/show-number.ts'
import { ScrollRegion } from './scroll-region.tsx'
import { ColumnChoice, type TableColumn, useColumnChoice } from './table-columns.tsx'
import { useRowKeys } from './table-keys.ts'
import { SortButton, type TableSort, useSort } from './table-sort.tsx'
import { leastWidths } from './table-widths.ts'

export interface TableHandle {
  /** How far it is scrolled; 0 is the top. */
  scrolled(): number
  toTop(): void
}

export interface DataTableProps<Row> {
  /** Under which the choice of columns is remembered. */
  name: string
  /** What the table holds, for those who do not see it. */
  label: string
  rows: readonly Row[]
  columns: readonly TableColumn<Row>[]
  rowKey(row: Row): string
  /** A press on the row, or Enter. */
  onOpen?(row: Row): void
  /** Shown in place of the table when there is no row. */
  empty: ReactNode
  /** Beside the choice of columns. */
  tools?: ReactNode
  /** Fills what the window leaves, and scrolls within; for long lists. */
  fill?: boolean
  /** Cells wrap, and on narrow screens each row becomes a card; for short lists. */
  cards?: boolean
  /** Called when the end comes near. */
  onEnd?(): void
  /** Below the last row: "Loading", "That is all". */
  foot?: ReactNode
  rowClass?(row: Row): string
  /** A line above the row that says what begins there; null: none. */
  divider?(row: Row, before: Row | undefined): string | null
  handle?: Ref<TableHandle>
}

const rowHeight = 40
const dividerHeight = 32
/** Beyond so many rows only those near the window are in the page, if the table fills it: else all are in the window. */
const manyRows = 80

/** Long enough to fill the page and scroll within. */
export function isLongTable(rows: readonly unknown[]): boolean {
  return rows.length > manyRows
}
const nearEnd = 20

/**
 * A table with a head that stays, rows that `j`, `k` and Enter reach, and columns that are chosen and remembered. It
 * scrolls within itself where it is too wide; the page never does.
 */
export function DataTable<Row>(given: DataTableProps<Row>) {
  const sort = useSort(given.rows, given.columns)
  const props = { ...given, rows: sort.rows }
  const { rows, label, empty, foot, fill = false, onEnd, handle } = props
  const scroller = useRef<HTMLElement>(null)
  const choice = useColumnChoice(props.name, props.columns)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => rowHeight + (dividerAt(props, index) === null ? 0 : dividerHeight),
    overscan: 12,
    enabled: isLongTable(rows),
    getItemKey: (index) => props.rowKey(rows[index] as Row),
  })
  const keys = useRowKeys({ count: rows.length, open: (index) => openAt(props, index), reveal: virtual.scrollToIndex })
  useImperativeHandle(handle, () => ({
    scrolled: () => scroller.current?.scrollTop ?? 0,
    toTop: () => scroller.current?.scrollTo({ top: 0 }),
  }))
  const items = virtual.getVirtualItems()
  const lastShown = items.at(-1)?.index ?? rows.length - 1
  useEffect(() => {
    if (rows.length > 0 && lastShown >= rows.length - nearEnd) onEnd?.()
  }, [lastShown, rows.length, onEnd])
  const isVirtual = isLongTable(rows)
  const digits = alignedDigits(choice.shown, rows)
  const shown = isVirtual ? items.map(({ index }) => index) : rows.map((_, index) => index)
  return (
    <div className={`table-frame${fill ? ' table-fill' : ''}`}>
      {rows.length === 0 && props.tools === undefined ? null : (
        <div className={props.tools === undefined ? 'table-corner' : 'row table-tools'}>
          {props.tools === undefined ? null : <div className="grow">{props.tools}</div>}
          {rows.length === 0 ? null : <ColumnChoice choice={choice} />}
        </div>
      )}
      {rows.length === 0 ? (
        empty
      ) : (
        <ScrollRegion label={label} scrollRef={scroller}>
          <table
            className={props.cards ? 'table table-cards' : 'table'}
            style={leastWidths(choice.shown) as CSSProperties}
            ref={keys.table}
            aria-rowcount={rows.length}
          >
            <Head columns={choice.shown} sort={sort} />
            <tbody>
              <Spacer height={isVirtual ? (items[0]?.start ?? 0) : 0} />
              {shown.map((index) => (
                <TableRow
                  key={props.rowKey(rows[index] as Row)}
                  table={props}
                  index={index}
                  columns={choice.shown}
                  digits={digits}
                  keys={keys}
                />
              ))}
              <Spacer height={isVirtual ? virtual.getTotalSize() - (items.at(-1)?.end ?? 0) : 0} />
            </tbody>
          </table>
          {foot === undefined ? null : <div className="table-foot quiet">{foot}</div>}
        </ScrollRegion>
      )}
    </div>
  )
}

function dividerAt<Row>({ rows, divider }: DataTableProps<Row>, index: number): string | null {
  const row = rows[index]
  return row === undefined ? null : (divider?.(row, rows[index - 1]) ?? null)
}

function openAt<Row>({ rows, onOpen }: DataTableProps<Row>, index: number): void {
  const row = rows[index]
  if (row !== undefined) onOpen?.(row)
}

function classOf<Row>({ number = false, digits, wideOnly = false, roomyOnly = false }: TableColumn<Row>): string {
  const classes = { number, amount: digits !== undefined, 'wide-only': wideOnly || roomyOnly, 'roomy-only': roomyOnly }
  return Object.entries(classes)
    .filter(([, holds]) => holds)
    .map(([name]) => name)
    .join(' ')
}

/** Digits behind the point for which a column of amounts keeps room, by its id. */
type Digits = ReadonlyMap<string, number>

function alignedDigits<Row>(columns: readonly TableColumn<Row>[], rows: readonly Row[]): Digits {
  const most = ({ digits }: TableColumn<Row>) =>
    rows.reduce((found, row) => Math.max(found, Math.min(mostAligned, digits?.(row) ?? 0)), 0)
  return new Map(columns.map((column) => [column.id, column.digits === undefined ? 0 : most(column)]))
}

/** Of an amount, on its right, for the style sheet to leave. */
function missingRoom<Row>({ id, digits }: TableColumn<Row>, row: Row, aligned: Digits): CSSProperties | undefined {
  const own = digits?.(row) ?? null
  const missing = own === null ? 0 : (aligned.get(id) ?? 0) - own
  return missing > 0 ? ({ '--missing': `${missing}ch` } as CSSProperties) : undefined
}

/** Three widths for the style sheet to choose from. */
function widthsOf<Row>({ width = 'auto', middleWidth = width, narrowWidth = width }: TableColumn<Row>): CSSProperties {
  return { '--wide': width, '--middle': middleWidth, '--narrow': narrowWidth } as CSSProperties
}

/** With a fixed layout the widths of the head are the widths of all. */
function Head<Row>({ columns, sort }: { columns: readonly TableColumn<Row>[]; sort: TableSort<Row> }) {
  return (
    <thead>
      <tr>
        {columns.map((column) => (
          <th
            key={column.id}
            scope="col"
            className={classOf(column)}
            style={widthsOf(column)}
            {...(sort.by === column.id && { 'aria-sort': sort.descending ? 'descending' : 'ascending' })}
          >
            {column.sort !== undefined ? (
              <SortButton column={column} sort={sort} />
            ) : column.narrowTitle === undefined ? (
              column.title
            ) : (
              <>
                <span className="wide-only">{column.title}</span>
                <span className="narrow-only">{column.narrowTitle}</span>
              </>
            )}
          </th>
        ))}
      </tr>
    </thead>
  )
}

/** One cell: a span over all columns would bring those back that a narrow window leaves out. */
function Spacer({ height }: { height: number }) {
  return height <= 0 ? null : (
    <tr className="table-spacer">
      <td style={{ height }} />
    </tr>
  )
}

interface TableRowProps<Row> {
  table: DataTableProps<Row>
  index: number
  columns: readonly TableColumn<Row>[]
  digits: Digits
  keys: ReturnType<typeof useRowKeys>
}

function TableRow<Row>({ table, index, columns, digits, keys }: TableRowProps<Row>) {
  const row = table.rows[index] as Row
  const canOpen = table.onOpen !== undefined
  const open = (target: EventTarget) => {
    // A link or a button within the row has its own use, and text that is being selected is no press.
    const within = target instanceof Element && target.closest('a, button, input, select, summary') !== null
    if (!within && getSelection()?.isCollapsed !== false) table.onOpen?.(row)
  }
  const divider = dividerAt(table, index)
  return (
    <>
      {divider === null ? null : (
        <tr className="table-divider">
          <th scope="rowgroup" colSpan={columns.length}>
            {divider}
          </th>
        </tr>
      )}
      <tr
        data-row={index}
        data-key={table.rowKey(row)}
        aria-rowindex={index + 1}
        className={`${canOpen ? 'can-open' : ''} ${table.rowClass?.(row) ?? ''}`.trim() || undefined}
        tabIndex={index === keys.active || (keys.active === -1 && index === 0) ? 0 : -1}
        onFocus={() => keys.setActive(index)}
        onClick={canOpen ? ({ target }) => open(target) : undefined}
      >
        {columns.map((column) => (
          <td key={column.id} className={classOf(column)} data-title={column.title}>
            <div className="cell" style={missingRoom(column, row, digits)}>
              {column.cell(row)}
            </div>
          </td>
        ))}
      </tr>
    </>
  )
}
