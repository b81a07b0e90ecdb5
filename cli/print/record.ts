import type { Column } from '../../src/admin/contract/operation.ts'
import {
  absent,
  formatCell,
  guessFormat,
  toneOfCell,
  valueAt,
  withoutUnit,
} from '../../src/admin/contract/show-value.ts'
import { alignText, renderTable } from './table.ts'
import { titleWords } from './title-words.ts'
import type { View } from './view.ts'

/**
 * One object as `title  value` lines; lists of objects in it become tables below. Without columns all its fields are
 * shown; `whole`: those too that have no value.
 */
export function renderRecord(
  columns: readonly Column[] | undefined,
  record: unknown,
  view: View,
  whole = false,
): string {
  const chosen = columns ?? deriveColumns(record)
  const plain = chosen.filter(
    (column) => !isTable(valueAt(record, column.field)) && (whole || formatCell(record, column, view) !== absent),
  )
  const width = Math.max(0, ...plain.map((column) => column.title.length))
  const lines = plain.map((column) => renderLine(column, record, width, view))
  const tables = chosen
    .filter((column) => isTable(valueAt(record, column.field)))
    .map((column) => renderSection(column, valueAt(record, column.field), view))
  return [lines.length === 0 ? '' : `${lines.join('\n')}\n`, ...tables].filter((part) => part !== '').join('\n')
}

function renderLine(column: Column, record: unknown, width: number, view: View): string {
  const text = formatCell(record, column, view)
  const tone = toneOfCell(record, column)
  const title = view.paint('quiet', alignText(column.title, width, false))
  return `${title}  ${tone === null ? text : view.paint(tone, text)}`
}

function renderSection(column: Column, rows: unknown, view: View): string {
  const list = Array.isArray(rows) ? rows : []
  return `${view.paint('strong', column.title)}\n${renderTable(deriveColumns(list[0]), list, view)}`
}

function isTable(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'object' && item !== null)
}

/** Columns of an object that nobody described: its own fields in order, their format guessed from the stable names. */
export function deriveColumns(row: unknown): Column[] {
  if (typeof row !== 'object' || row === null) return []
  return Object.keys(row).map((field) => ({ field, title: titleOf(field), format: guessFormat(field) }))
}

/** Where the field's own name in the contract would not say it. */
const titles: Record<string, string> = { attached_to: 'Applies to', held_by: 'Used by', owned: 'Managed by' }

function titleOf(field: string): string {
  return titles[field] ?? titleWords(withoutUnit(field).replaceAll('_', ' '))
}
