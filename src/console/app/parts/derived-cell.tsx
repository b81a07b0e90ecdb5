import type { Column } from '../../../admin/contract/operation.ts'
import { fractionOf } from '../../../admin/contract/show-number.ts'
import {
  absent,
  escapeControls,
  formatCell,
  formatValue,
  guessFormat,
  toneOfCell,
  valueAt,
  withoutUnit,
} from '../../../admin/contract/show-value.ts'
import { CopyButton } from './copy-button.tsx'
import { sentenceCase, stateLabel } from './labels.ts'
import { StateBadge } from './state-badge.tsx'
import type { TableColumn } from './table-columns.tsx'
import { Id, Missing, Time } from './values.tsx'

const noClock = { now: 0, utc: true }
const amounts = ['money', 'rate']
const numeric = ['number', 'bytes', 'size', 'duration', 'money', 'rate']

/** A column of the contract as a column of a table. */
export function derivedColumn<Row>(column: Column): TableColumn<Row> {
  return {
    id: column.field,
    title: sentenceCase(column.title),
    number: numeric.includes(column.format ?? 'text'),
    ...(amounts.includes(column.format ?? 'text') && {
      digits: (row: Row) => fractionOf(formatCell(row, column, noClock)),
    }),
    cell: (row) => <DerivedCell row={row} column={column} />,
  }
}

/** `whole`: in a record, where a text may have several lines. */
export function DerivedCell({ row, column, whole = false }: { row: unknown; column: Column; whole?: boolean }) {
  const value = valueAt(row, column.field)
  if (column.format === 'age' && typeof value === 'string') return <Time at={value} />
  if (column.format === 'id' && typeof value === 'string') return <Id id={value} />
  const text = formatCell(row, column, { now: Date.now(), utc: true })
  if (column.format === 'state') {
    const tone = toneOfCell(row, column)
    return <StateBadge state={text} {...(tone === null ? {} : { tone })} />
  }
  if (text === absent) return <Missing />
  if (typeof value === 'boolean') return stateLabel(text)
  if (amounts.includes(column.format ?? 'text')) return <span className="number">{text}</span>
  return <bdi className={`from-outside ${whole ? 'breakable' : 'truncate'}`}>{text}</bdi>
}

/** Any value of a result, formatted by its field name. */
export function DerivedValue({ name, value }: { name: string; value: unknown }) {
  const format = guessFormat(name)
  if (value === null || value === undefined || value === '') return <Missing />
  if (format === 'age' && typeof value === 'string') return <Time at={value} />
  if (format === 'state' && (typeof value === 'string' || typeof value === 'number'))
    return <StateBadge state={value} />
  if (format === 'id' && typeof value === 'string')
    return (
      <span className="row">
        <code>{escapeControls(value)}</code>
        <CopyButton bare text={value} label={`Copy ${withoutUnit(name)}`} />
      </span>
    )
  if (typeof value === 'boolean') return stateLabel(formatValue(value, format, noClock))
  if (Array.isArray(value) && value.some((item) => typeof item === 'object' && item !== null))
    return <NestedList items={value} />
  return <bdi className="from-outside breakable">{formatValue(value, format, { now: Date.now(), utc: true })}</bdi>
}

function NestedList({ items }: { items: unknown[] }) {
  const view = { now: Date.now(), utc: true }
  const lines = items.map((item, index) => ({ key: `${index}`, text: formatValue(item, 'text', view) }))
  return (
    <ul className="nested">
      {lines.map(({ key, text }) => (
        <li key={key}>
          <bdi className="from-outside breakable">{text}</bdi>
        </li>
      ))}
    </ul>
  )
}
