import stringWidth from 'string-width'
import type { Column } from '../../src/admin/contract/operation.ts'
import { absent, type Format, formatValue, toneOf, valueAt } from './value.ts'
import type { View } from './view.ts'

const gap = '  '
const rightAligned: readonly Format[] = ['number', 'bytes', 'duration', 'money']

interface Laid {
  column: Column
  cells: string[]
  width: number
}

/** Aligned columns with a head. On a narrow terminal the last columns go first; off a terminal everything is shown. */
export function renderTable(columns: readonly Column[], rows: readonly unknown[], view: View): string {
  const laid = columns.map((column) => layOut(column, rows, view))
  const shown = chooseColumns(laid, view.width)
  const head = shown.map((part) => pad(part.column.title.toUpperCase(), part))
  const lines = [view.paint('quiet', head.join(gap).trimEnd())]
  for (const [index, row] of rows.entries()) lines.push(renderRow(shown, row, index, view))
  return `${lines.join('\n')}\n`
}

function layOut(column: Column, rows: readonly unknown[], view: View): Laid {
  const cells = rows.map((row) => formatValue(valueAt(row, column.field), formatOf(column), view))
  const width = Math.max(stringWidth(column.title), ...cells.map((cell) => stringWidth(cell)))
  return { column, cells, width }
}

export function formatOf(column: Column): Format {
  return column.format ?? 'text'
}

/**
 * Drops columns from the end until the rest fits. The first always stays, cut if it must be, and an id, which leads on
 * to `show`, goes last of the others.
 */
export function chooseColumns<Part extends Pick<Laid, 'column' | 'width'>>(
  laid: readonly Part[],
  width: number | null,
): Part[] {
  let shown = [...laid]
  if (width === null) return shown
  while (shown.length > 1 && totalWidth(shown) > width) {
    const victim = shown.findLastIndex((part, index) => index > 0 && part.column.format !== 'id')
    shown = shown.toSpliced(victim < 0 ? shown.length - 1 : victim, 1)
  }
  return shown.length === 1 ? shown.map((part) => ({ ...part, width: Math.min(part.width, width) })) : shown
}

function totalWidth(laid: readonly Pick<Laid, 'width'>[]): number {
  return laid.reduce((sum, part) => sum + part.width, gap.length * (laid.length - 1))
}

function renderRow(shown: readonly Laid[], row: unknown, index: number, view: View): string {
  const cells = shown.map((part) => {
    const tone = toneOf(valueAt(row, part.column.field), formatOf(part.column))
    const text = pad(cut(part.cells[index] ?? absent, part.width), part)
    return tone === null ? text : view.paint(tone, text)
  })
  return cells.join(gap).trimEnd()
}

function pad(text: string, { column, width }: Pick<Laid, 'column' | 'width'>): string {
  return alignText(text, width, rightAligned.includes(formatOf(column)))
}

export function isRightAligned(column: Column): boolean {
  return rightAligned.includes(formatOf(column))
}

/** Padded to a width in terminal cells, which is not the length of a string. */
export function alignText(text: string, width: number, right: boolean): string {
  const filler = ' '.repeat(Math.max(0, width - stringWidth(text)))
  return right ? filler + text : text + filler
}

export function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text
  let kept = ''
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (stringWidth(kept + segment) > width - 1) break
    kept += segment
  }
  return `${kept}…`
}
