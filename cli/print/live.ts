import type { Column } from '../../src/admin/contract/operation.ts'
import { formatCell, toneOfCell, valueAt } from '../../src/admin/contract/show-value.ts'
import { isBehind } from '../fault.ts'
import type { GlobalOptions } from '../global-options.ts'
import type { Io } from '../io.ts'
import { pickColumns } from './columns.ts'
import { cut } from './cut.ts'
import { csvHead, csvRow, renderDocument } from './machine.ts'
import { alignText, chooseColumns, formatOf, isRightAligned } from './table.ts'
import { prepareWidths, textWidth } from './text-width.ts'
import { stdoutView, type View } from './view.ts'

/** Prints rows as they come, each handed to the system before the next is read. Ctrl-C ends it as if the stream had ended. */
export async function printLive(
  { columns, idle }: { columns: readonly Column[]; idle?: string },
  open: (signal: AbortSignal) => Promise<AsyncIterable<unknown>>,
  settings: GlobalOptions,
  io: Io,
): Promise<void> {
  const stop = new AbortController()
  const release = io.onInterrupt(() => stop.abort())
  const stopped = new Promise<{ done: true; value: undefined }>((resolve) => {
    stop.signal.addEventListener('abort', () => resolve({ done: true, value: undefined }), { once: true })
  })
  try {
    let rows = (await open(stop.signal))[Symbol.asyncIterator]()
    if (idle !== undefined && io.stderr.isTerminal) await io.stderr.write(`${idle} Press Ctrl-C to stop.\n`)
    const render = rowRenderer(pickColumns(columns, settings.columns, undefined, settings.output), settings, io)
    for (;;) {
      const next = await Promise.race([rows.next(), stopped]).catch(whenBehind)
      if (next === null) {
        await io.stderr.write('Note: the output is read too slowly, so some rows are not shown.\n')
        rows = (await open(stop.signal))[Symbol.asyncIterator]()
        continue
      }
      if (next.done) break
      await prepareWidths(next.value)
      await io.stdout.write(await render(next.value))
    }
  } catch (error) {
    // Aborting the call makes it fail on its way out: that is how it was asked to end.
    if (!stop.signal.aborted) throw error
  } finally {
    stop.abort()
    release()
  }
}

function whenBehind(error: unknown): null {
  if (isBehind(error)) return null
  throw error
}

type RowRenderer = (row: unknown) => string | Promise<string>

function rowRenderer(columns: readonly Column[], settings: GlobalOptions, io: Io): RowRenderer {
  const pick = (row: unknown) =>
    settings.columns === null
      ? row
      : Object.fromEntries(columns.map(({ field }) => [field, valueAt(row, field) ?? null]))
  if (settings.output === 'json') return (row) => `${JSON.stringify(pick(row))}\n`
  if (settings.output === 'yaml') return async (row) => `---\n${await renderDocument('yaml', columns, pick(row))}`
  if (settings.output === 'csv') return withHead(csvHead(columns), (row) => csvRow(columns, row))
  const table = new LiveTable(columns, settings.utc)
  return withHead(null, (row) => table.render(row, stdoutView(io, settings.utc)))
}

function withHead(head: string | null, render: (row: unknown) => string): RowRenderer {
  let first = true
  return (row) => {
    const line = render(row)
    const text = first && head !== null ? head + line : line
    first = false
    return text
  }
}

const startWidths = {
  text: 18,
  number: 9,
  bytes: 8,
  size: 8,
  duration: 10,
  age: 8,
  money: 9,
  rate: 9,
  nearest: 30,
  flag: 5,
  share: 7,
  time: 17,
  state: 6,
  list: 14,
  targets: 14,
  rules: 14,
  limit: 18,
  used: 14,
  amount: 9,
  id: 30,
} as const

/** Room for the longest status and code, `502 provider_bad_response` among them. */
const statusWidth = 28

/**
 * Columns keep their place and their width: on a terminal what is longer is cut, since one long name would shift every
 * row after it. The head comes with the first row.
 */
class LiveTable {
  #columns: readonly Column[]
  #widths: number[] = []
  #started = false
  readonly #utc: boolean

  constructor(columns: readonly Column[], utc: boolean) {
    this.#columns = columns
    this.#utc = utc
  }

  render(row: unknown, view: View): string {
    if (!this.#started) this.#layOut(row)
    const cells = this.#columns.map((column) => formatLive(row, column, view))
    const tones = this.#columns.map((column) => toneOfCell(row, column))
    const line = this.#join(cells, view, (text, index) => {
      const tone = tones[index]
      return tone ? view.paint(tone, text) : text
    })
    if (this.#started) return line
    this.#started = true
    const head = this.#columns.map((column) => column.title.toUpperCase())
    return this.#join(head, view, (text) => view.paint('quiet', text)) + line
  }

  /** By the first row: what is optional and not in it, such as the node, is in none. */
  #layOut(first: unknown): void {
    this.#columns = this.#columns.filter(({ field, optional }) => !optional || (valueAt(first, field) ?? null) !== null)
    this.#widths = this.#columns.map((column) => {
      const isTime = this.#utc && column.format === 'age'
      const usual = isTime ? 20 : hasError(column) ? statusWidth : startWidths[formatOf(column)]
      return Math.max(usual, textWidth(column.title))
    })
  }

  #join(cells: readonly string[], view: View, paint: (text: string, index: number) => string): string {
    const laid = this.#columns.map((column, index) => ({ column, index, width: this.#widths[index] ?? 0 }))
    const shorten = (text: string, width: number, column: Column) =>
      view.width === null || isRemark(column) ? text : cut(text, width)
    const parts = chooseColumns(laid, view.width).map(({ column, index, width }) =>
      paint(alignText(shorten(cells[index] ?? '', width, column), width, isRightAligned(column)), index),
    )
    return `${parts.join('  ').trimEnd()}\n`
  }
}

/** A status with its code, in any row. */
const hasError = (column: Column) => column.also !== undefined && formatOf(column) === 'state'
/** What is said beside a figure stands in the last row, if in any: whole, though what follows moves. */
const isRemark = (column: Column) => column.also !== undefined && !hasError(column)

/** In a list that stays on the screen an age would soon be wrong: the time of day stays true. */
function formatLive(row: unknown, column: Column, view: View): string {
  const value = valueAt(row, column.field)
  const time = new Date(typeof value === 'string' ? value : Number.NaN)
  if (column.format !== 'age' || view.utc || Number.isNaN(time.getTime())) return formatCell(row, column, view)
  return time.toTimeString().slice(0, 8)
}
