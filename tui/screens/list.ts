import type { Operation } from '../../cli/operation.ts'
import { deriveColumns } from '../../cli/print/record.ts'
import type { Column } from '../../src/admin/contract/operation.ts'
import { rowsOf } from '../../src/admin/contract/show-rows.ts'
import { escapeControls } from '../../src/admin/contract/show-value.ts'
import { groupDigits } from '../../src/core/units.ts'
import { aboutList, findVerb, inputForRow, isMaker } from '../areas.ts'
import { clip } from '../clip.ts'
import { DetailPane } from '../detail-pane.ts'
import { matches, RowFilter } from '../filter.ts'
import type { Host } from '../host.ts'
import type { KeyPress } from '../keys.ts'
import { mark, wrap } from '../lines.ts'
import { PolledAnswer } from '../polled-answer.ts'
import { RowActions } from '../row-actions.ts'
import { idOf } from '../row-stream.ts'
import { coverageOf, isInScope } from '../scope.ts'
import type { DrawArea, Hint, Screen, TextTheme } from '../screen.ts'
import { moveSelection, type Selection, stepOf } from '../selection.ts'
import { TableLayout } from '../table-layout.ts'
import { RecordScreen } from './record.ts'

/** Of what has no end: as many as one looks through. */
const mostRows = 200

/** The rows of an operation that shows a table; what can be done with one, and with all, is found in the contract. */
export class ListScreen implements Screen {
  readonly title: string
  readonly list: Operation
  readonly #host: Host
  readonly #given: object
  readonly #loaded: PolledAnswer
  readonly #filter = new RowFilter()
  readonly #area: readonly Operation[]
  readonly #coverage: string | null
  readonly #actions: RowActions
  #layout: TableLayout
  #shown: readonly unknown[] = []
  #selection: Selection = { index: 0, top: 0 }
  #height = 1
  readonly #detail = new DetailPane()

  constructor(host: Host, list: Operation, given: object, title: string) {
    this.#host = host
    this.list = list
    this.#given = given
    this.title = title
    const input = isBounded(list) ? { limit: mostRows, ...given } : given
    this.#loaded = new PolledAnswer(host, list, input, { took: () => this.#sift() })
    this.#layout = new TableLayout(columnsOf(list, undefined))
    const area = host.areas.find(({ operations }) => operations.includes(list))
    this.#area = area?.operations ?? [list]
    this.#actions = new RowActions(host, list, given)
    this.#coverage = coverageOf(list, given, host.scope)
  }

  get typing(): boolean {
    return this.#filter.typing
  }

  get rows(): readonly unknown[] {
    if (this.#loaded.data === undefined) return []
    const rows = rowsOf(this.list.meta.show, this.#loaded.data)
    return this.#coverage === null ? rows : rows.filter((row) => isInScope(row, this.#host.scope))
  }

  show(): void {
    this.#loaded.start()
    this.#detail.show()
  }

  hide(): void {
    this.#loaded.stop()
    this.#detail.hide()
  }

  refresh(): void {
    this.#loaded.reload()
    this.#detail.refresh()
  }

  #sift(): void {
    const selected = idOf(this.#selected)
    this.#shown = this.rows.filter((row) => matches(row, this.#filter.text))
    if (this.#layout.columns.length === 0) this.#layout = new TableLayout(columnsOf(this.list, this.rows[0]))
    const position = selected === null ? -1 : this.#shown.findIndex((row) => idOf(row) === selected)
    if (position >= 0) this.#selection = { ...this.#selection, index: position }
    // What was removed, here or elsewhere, is not looked at any longer.
    if (selected !== null && !this.rows.some((row) => idOf(row) === selected)) this.#detail.close()
    this.#measured = false
  }

  #measured = false

  get #selected(): unknown {
    return this.#shown[this.#selection.index]
  }

  draw(area: DrawArea): string[] {
    return this.#detail.draw(area, (left) => this.#drawList(left))
  }

  #drawList(area: DrawArea): string[] {
    const { width, height, theme } = area
    if (this.#loaded.data === undefined) return this.#drawWaiting(area)
    if (this.rows.length === 0) return this.#drawEmpty(area)
    if (!this.#measured) this.#layout.measure(this.#shown, theme)
    this.#measured = true
    const { report } = this.#loaded
    const old = report === null ? [] : [theme.paint('warning', `Out of date: ${report.cause}`)]
    const filter = this.#filter.draw(this.#shown.length, this.rows.length, theme)
    const head = [...this.#drawHeading(theme), ...old, ...filter]
    this.#height = Math.max(1, height - 1 - head.length)
    this.#selection = moveSelection(this.#selection, 0, this.#shown.length, this.#height)
    const { top, index } = this.#selection
    const inSight = this.#shown.slice(top, top + this.#height)
    // A long list is not measured whole: what comes into sight may be longer.
    this.#layout.measure(inSight, theme)
    const rows = inSight.map((row, seen) => {
      const selected = top + seen === index
      const cells = this.#layout.row(row, width - 2, theme, selected && theme.colour)
      return mark(selected, theme) + (selected ? theme.paint('strong', cells) : cells)
    })
    return [...head, `  ${this.#layout.head(width - 2, theme)}`, ...rows].map((line) => clip(line, width))
  }

  /** What the list covers, and how much that is. */
  #drawHeading(theme: TextTheme): string[] {
    const count = countRows(this.list, this.rows.length)
    const isWhole = !isBounded(this.list) || this.rows.length < mostRows
    const words = [
      ...(this.#coverage === null ? [] : [escapeControls(this.#coverage)]),
      isWhole ? count : `the newest ${count}`,
    ]
    return [theme.paint('quiet', words.join('  ·  '))]
  }

  #drawWaiting({ width, theme }: DrawArea): string[] {
    const { report } = this.#loaded
    if (report === null) return [theme.paint('quiet', 'Loading…')]
    return [theme.paint('bad', report.cause), ...wrap(report.hint, width)].map((line) => clip(line, width))
  }

  #drawEmpty({ width, theme }: DrawArea): string[] {
    const { show } = this.list.meta
    const text = show.as === 'table' ? show.empty : 'Nothing.'
    const maker = this.#maker()
    const key = maker === null ? [] : ['', `Press ${theme.paint('strong', 'a')} to add one here.`]
    const lines = ['', ...wrap(text, width - 2), ...key].map((line) => clip(`  ${line}`, width))
    return [...this.#drawHeading(theme), ...lines]
  }

  hints(): Hint[] {
    if (this.#filter.typing)
      return [
        ['enter', 'apply'],
        ['esc', 'clear'],
      ]
    const own = this.#detail.hints()
    if (own !== null) return own
    const hints: Hint[] = []
    const some = this.#shown.length > 0
    if (some) hints.push(['↑↓', 'move'], ['enter', this.#detail.isOpen ? 'full' : 'open'])
    if (this.#maker() !== null) hints.push(['a', 'add'])
    if (this.#detail.isOpen) hints.push(['esc', 'close'])
    if (this.rows.length > 0) hints.push(['/', 'filter'])
    return [...hints, ...this.#actions.hints(this.#selected)]
  }

  paste(text: string): void {
    if (this.#filter.typing) this.#filter.paste(text)
    this.#sift()
  }

  press(press: KeyPress): boolean {
    if (!this.#filter.typing && this.#detail.press(press)) return true
    if (this.#detail.hasKeys) return false
    if (this.#filter.press(press)) {
      this.#sift()
      return true
    }
    return this.#move(press.name) || this.#act(press.name)
  }

  #move(name: string): boolean {
    const step = stepOf(name, this.#height)
    if (step === null) return false
    this.#selection = moveSelection(this.#selection, step, this.#shown.length, this.#height)
    if (this.#detail.isOpen) this.#openDetail()
    return true
  }

  #act(name: string): boolean {
    const row = this.#selected
    if (name === 'enter' || name === 'right') this.#openDetail()
    else if (name === 'a') this.#make()
    else if (name === 'r') this.refresh()
    else return this.#actions.press(name, row)
    return true
  }

  #openDetail(): void {
    const row = this.#selected
    if (row === undefined) return
    const show = findVerb(this.#area, this.list, 'show')
    const actions = this.#actions
    const call = { operation: show ?? this.list, given: {}, subject: row }
    if (show !== null) call.given = inputForRow(show, this.list, row, this.#given)
    this.#detail.open(
      new RecordScreen(this.#host, call, show === null ? { output: row, actions } : { first: row, actions }),
    )
  }

  #make(): void {
    const operation = this.#maker()
    if (operation !== null) this.#host.open({ operation, given: aboutList(this.list, this.#given) })
  }

  #maker(): Operation | null {
    return this.#area.find((operation) => isMaker(operation, this.list)) ?? null
  }
}

/** There may be any number, and the newest come first. */
function isBounded({ fields }: Operation): boolean {
  return fields.some(({ name }) => name === 'limit')
}

/** `1 key`, `12 credentials`; `3 rows` where the noun is no plural. */
function countRows({ path }: Operation, count: number): string {
  const noun = path.at(-1) === 'list' ? (path.at(-2) ?? '') : ''
  const plural = noun.endsWith('s') ? noun : 'rows'
  return count === 1 ? `1 ${plural.replace(/ies$/, 'y').replace(/s$/, '')}` : `${groupDigits(count)} ${plural}`
}

function columnsOf({ meta }: Operation, row: unknown): readonly Column[] {
  const columns = 'columns' in meta.show ? meta.show.columns : undefined
  const all = columns ?? deriveColumns(row)
  // An id is long, and whoever opens the row sees it: it goes where there is enough else to tell rows apart.
  return all.filter(({ optional }) => optional !== true).length > 5 ? all.filter(({ format }) => format !== 'id') : all
}
