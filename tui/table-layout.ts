import { alignText, chooseColumns, cutCell, isAmount, isRightAligned } from '../cli/print/table.ts'
import { textWidth } from '../cli/print/text-width.ts'
import type { Column } from '../src/admin/contract/operation.ts'
import { alignedDigits, missingDigits } from '../src/admin/contract/show-number.ts'
import { absent, formatCell, toneOfCell } from '../src/admin/contract/show-value.ts'
import type { TextTheme } from './screen.ts'

/** Widths are taken from so many rows at a time: a long list is measured where it is seen. */
const sampled = 500
const widest = 60

/** What such values take at most, nearly always: a column of this width stays where it is while rows come. */
const usual: Partial<Record<NonNullable<Column['format']>, number>> = {
  age: '59 min ago'.length,
  duration: '59.9 s'.length,
}

interface Sized {
  column: Column
  width: number
  empty: boolean
  /** Digits behind the point for which there is room. */
  digits: number
}

/** A table whose rows come and go under a steady head: columns only ever grow. */
export class TableLayout {
  readonly #columns: readonly Column[]
  #sizes: Sized[]

  constructor(columns: readonly Column[]) {
    this.#columns = columns
    this.#sizes = columns.map((column) => {
      const width = Math.max(textWidth(column.title), usual[column.format ?? 'text'] ?? 0)
      return { column, width, empty: true, digits: 0 }
    })
  }

  get columns(): readonly Column[] {
    return this.#columns
  }

  measure(rows: readonly unknown[], theme: TextTheme): void {
    for (const size of this.#sizes) {
      const cells = rows.slice(0, sampled).map((row) => formatCell(row, size.column, theme))
      if (cells.some((cell) => cell !== absent)) size.empty = false
      if (isAmount(size.column)) size.digits = Math.max(size.digits, alignedDigits(cells))
      const widths = cells.map((cell) => Math.min(widest, textWidth(align(cell, size))))
      size.width = Math.max(size.width, ...widths)
    }
  }

  head(width: number, theme: TextTheme): string {
    const cells = this.#clip(width).map((size) => lay(size.column.title.toUpperCase(), size))
    return theme.paint('quiet', cells.join('  ').trimEnd())
  }

  /** `within`: the row stands in another look, which one of weight would end. */
  row(row: unknown, width: number, theme: TextTheme, within = false): string {
    const cells = this.#clip(width).map((size) => {
      const text = lay(align(formatCell(row, size.column, theme), size), size)
      const tone = toneOfCell(row, size.column)
      return tone === null || (within && tone === 'quiet') ? text : theme.paint(tone, text)
    })
    return cells.join('  ').trimEnd()
  }

  #clip(width: number): Sized[] {
    const there = this.#sizes.filter(({ column, empty }) => !(empty && column.optional === true))
    return chooseColumns(there, width)
  }
}

/** Amounts have their points under one another. */
function align(cell: string, { column, digits }: Sized): string {
  return isAmount(column) ? cell + ' '.repeat(missingDigits(cell, digits)) : cell
}

function lay(text: string, size: Sized): string {
  return alignText(cutCell(text, size), size.width, isRightAligned(size.column))
}
