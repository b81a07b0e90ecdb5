import { fieldTitles } from '../../src/admin/contract/field-titles.ts'
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
import { hangingLines } from './wrap.ts'

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
  const lines = plain.flatMap((column) => renderLine(column, record, width, view))
  const tables = chosen
    .filter((column) => isTable(valueAt(record, column.field)))
    .map((column) => renderSection(column, valueAt(record, column.field), view))
  return [lines.length === 0 ? '' : `${lines.join('\n')}\n`, ...tables].filter((part) => part !== '').join('\n')
}

function renderLine(column: Column, record: unknown, width: number, view: View): string[] {
  const tone = toneOfCell(record, column)
  const title = view.paint('quiet', alignText(column.title, width, false))
  const lines = hangingLines(formatCell(record, column, view), width + 2, view.width)
  const painted = tone === null ? lines : lines.map((line) => view.paint(tone, line))
  return painted.map((line, index) => (index === 0 ? `${title}  ${line}` : line))
}

function renderSection(column: Column, rows: unknown, view: View): string {
  const list = Array.isArray(rows) ? rows : []
  return `${view.paint('strong', column.title)}\n${renderTable(deriveColumns(list[0]), list, view)}`
}

/** A list of objects. */
export function isTable(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'object' && item !== null)
}

/**
 * Columns of an object that nobody described: its own fields in order, their format guessed from the stable names. A state
 * and its reason are one.
 */
export function deriveColumns(row: unknown): Column[] {
  if (typeof row !== 'object' || row === null) return []
  const isReasoned = Reflect.get(row, 'state') !== undefined && Reflect.get(row, 'state_reason') !== undefined
  return Object.keys(row)
    .filter((field) => !(isReasoned && field === 'state_reason'))
    .map((field) => ({
      field,
      title: titleOf(field),
      format: guessFormat(field),
      ...(isReasoned && field === 'state' ? { also: { field: 'state_reason', join: ': ' } } : {}),
    }))
}

function titleOf(field: string): string {
  return fieldTitles[field] ?? titleWords(withoutUnit(field).replaceAll('_', ' '))
}
