import type { Column } from '../../src/admin/contract/operation.ts'
import { alignedDigits, missingDigits } from '../../src/admin/contract/show-number.ts'
import { absent, type Format, formatCell, toneOfCell } from '../../src/admin/contract/show-value.ts'
import { cut, cutMiddle } from './cut.ts'
import { textWidth } from './text-width.ts'
import type { View } from './view.ts'

const gap = '  '
const rightAligned: readonly Format[] = ['number', 'bytes', 'size', 'duration', 'money', 'rate', 'share']

interface LaidOutColumn {
  column: Column
  cells: string[]
  width: number
  /** Nothing stands in it. */
  empty: boolean
}

/** Aligned columns with a head. A narrow terminal gets fewer of them; off a terminal everything is shown. */
export function renderTable(columns: readonly Column[], rows: readonly unknown[], view: View): string {
  const laid = columns
    .map((column) => layOut(column, rows, view))
    .filter(({ column, empty }) => !(empty && column.optional === true))
  const shown = chooseColumns(laid.map(keepTelling), view.width)
  const head = shown.map((part) => pad(cut(part.column.title.toUpperCase(), part.width), part))
  const lines = [view.paint('quiet', head.join(gap).trimEnd())]
  for (const [index, row] of rows.entries()) lines.push(renderRow(shown, row, index, view))
  return `${lines.join('\n')}\n`
}

const words: readonly Format[] = ['text', 'state', 'list', 'targets', 'rules', 'limit', 'id']

/** A spare column stays where rows that have all other words in common are told apart by it alone. */
function keepTelling(part: LaidOutColumn, _: number, laid: readonly LaidOutColumn[]): LaidOutColumn {
  if (part.column.spare !== true) return part
  const others = laid.filter((other) => other !== part && words.includes(formatOf(other.column)))
  const count = (parts: readonly LaidOutColumn[]) =>
    new Set(part.cells.map((_, row) => JSON.stringify(parts.map(({ cells }) => cells[row])))).size
  if (count(others) === count([...others, part])) return part
  const { spare, ...column } = part.column
  return { ...part, column }
}

function layOut(column: Column, rows: readonly unknown[], view: View): LaidOutColumn {
  const cells = formatCells(rows, column, view)
  const width = Math.max(textWidth(column.title), ...cells.map((cell) => textWidth(cell)))
  return { column, cells, width, empty: cells.every((cell) => cell === absent) }
}

/** Of one column. Amounts have their points under one another. */
function formatCells(rows: readonly unknown[], column: Column, view: View): string[] {
  const cells = rows.map((row) => formatCell(row, column, view))
  if (!isAmount(column)) return cells
  const aligned = alignedDigits(cells)
  return cells.map((cell) => cell + ' '.repeat(missingDigits(cell, aligned)))
}

export function isAmount({ format }: Column): boolean {
  return format === 'money' || format === 'rate'
}

export function formatOf(column: Column): Format {
  return column.format ?? 'text'
}

/** A column of words may be cut to this before another column goes for it. */
const minimumWidth = 14
/** What went wrong is told apart by the end of its code: `503 provider_not_ready`, `503 provider_not_found`. */
const minimumStateWidth = (room: number, width: number) =>
  Math.max(minimumWidth, Math.floor(Math.min(24, width * 0.3, room * 0.44)))
/** Of a column that is cut in its middle, there must be room for words at both ends. */
const minimumPathWidth = 17
const cuttable: readonly Format[] = ['text', 'state', 'list', 'targets', 'rules']

type SizedColumn = Pick<LaidOutColumn, 'column' | 'width'> & Partial<Pick<LaidOutColumn, 'empty'>>

/**
 * Fits columns into a width: those in which nothing stands go first, then spare ones, then the last, and what is left is cut where
 * it is widest. The first always stays, and an id, which leads on to `show`, is whole and goes last of the others.
 */
export function chooseColumns<Part extends SizedColumn>(laid: readonly Part[], width: number | null): Part[] {
  let shown = [...laid]
  if (width === null) return shown
  const isVictim = (part: Part, index: number) => index > 0 && part.column.format !== 'id'
  const room = width - totalWidth(laid.filter(({ column }) => column.format === 'id').map((part) => part.width))
  let isTight = false
  const leastState = minimumStateWidth(room, width)
  const leastOf = (part: SizedColumn) => minimumWidthOf(part, leastState, isTight)
  shown = dropMinor(shown, width, leastOf)
  while (shown.length > 1 && totalWidth(shown.map(leastOf)) > width) {
    const empty = shown.findLastIndex((part, index) => isVictim(part, index) && part.empty === true)
    const spare = shown.findLastIndex((part, index) => isVictim(part, index) && part.column.spare === true)
    if (empty < 0 && spare >= 0 && !isTight) {
      isTight = true
      continue
    }
    const last = shown.findLastIndex(isVictim)
    const minor = shown[last - 1]?.column.minor === true && isVictim(shown[last - 1] as Part, last - 1)
    const victim = [empty, spare, minor ? last - 1 : last].find((index) => index >= 0)
    shown = shown.toSpliced(victim ?? shown.length - 1, 1)
  }
  return cutWidest(shown, width, leastOf)
}

/** `isTight`: a spare column may be cut until its title is left, before it goes. */
function minimumWidthOf({ column, width }: SizedColumn, leastState: number, isTight: boolean): number {
  const format = formatOf(column)
  if (!cuttable.includes(format)) return width
  if (isTight && column.spare === true) return Math.min(width, textWidth(column.title))
  const least = column.cut === 'middle' ? minimumPathWidth : minimumWidth
  return Math.min(width, Math.max(format === 'state' ? leastState : least, textWidth(column.title)))
}

/** What is of minor interest goes before a column is cut whose both ends tell rows apart. */
function dropMinor<Part extends SizedColumn>(
  laid: readonly Part[],
  width: number,
  leastOf: (part: SizedColumn) => number,
): Part[] {
  const shown = [...laid]
  const wanted = () => totalWidth(shown.map((part) => (isCutLast(part) ? part.width : leastOf(part))))
  while (shown.some(isCutLast) && wanted() > width) {
    const minor = shown.findLastIndex(({ column }) => column.minor === true)
    if (minor < 0) break
    shown.splice(minor, 1)
  }
  return shown
}

const isCutLast = ({ column }: SizedColumn) => column.cut === 'middle'

/**
 * Takes a cell's width at a time from the widest column that can spare it, and last from those that are cut in their
 * middle; a column alone takes what there is.
 */
function cutWidest<Part extends SizedColumn>(
  shown: readonly Part[],
  width: number,
  leastOf: (part: SizedColumn) => number,
): Part[] {
  const widths = shown.map((part) => part.width)
  const spare = (index: number) => (widths[index] ?? 0) - leastOf(shown[index] as Part)
  for (let over = totalWidth(widths) - width; over > 0; over--) {
    const spared = widths.map((_, index) => index).filter((index) => spare(index) > 0)
    const first = spared.filter((index) => !isCutLast(shown[index] as Part))
    const able = first.length > 0 ? first : spared
    const widest = able.reduce(
      (best, index) => ((widths[index] ?? 0) > (widths[best] ?? 0) ? index : best),
      able[0] ?? 0,
    )
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return shown.map((part, index) => ({ ...part, width: widths[index] ?? part.width }))
}

function totalWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1))
}

function renderRow(shown: readonly LaidOutColumn[], row: unknown, index: number, view: View): string {
  const cells = shown.map((part) => {
    const tone = toneOfCell(row, part.column)
    const text = pad(cutCell(part.cells[index] ?? absent, part), part)
    return tone === null ? text : view.paint(tone, text)
  })
  return cells.join(gap).trimEnd()
}

function pad(text: string, { column, width }: Pick<LaidOutColumn, 'column' | 'width'>): string {
  return alignText(text, width, rightAligned.includes(formatOf(column)))
}

export function cutCell(text: string, { column, width }: Pick<LaidOutColumn, 'column' | 'width'>): string {
  return column.cut === 'middle' ? cutMiddle(text, width) : cut(text, width)
}

export function isRightAligned(column: Column): boolean {
  return rightAligned.includes(formatOf(column))
}

/** Padded to a width in terminal cells, which is not the length of a string. */
export function alignText(text: string, width: number, right: boolean): string {
  const filler = ' '.repeat(Math.max(0, width - textWidth(text)))
  return right ? filler + text : text + filler
}
