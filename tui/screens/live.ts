import { type FaultReport, reportFault } from '../../cli/fault.ts'
import type { Operation } from '../../cli/operation.ts'
import { deriveColumns } from '../../cli/print/record.ts'
import { isSearch } from '../../src/admin/contract/requests/slow-filters.ts'
import { escapeControls, formatValue, valueAt } from '../../src/admin/contract/show-value.ts'
import { findRequestId } from '../../src/core/ids.ts'
import { groupDigits } from '../../src/core/units.ts'
import { verbOf } from '../areas.ts'
import { clip } from '../clip.ts'
import { DetailPane } from '../detail-pane.ts'
import { matches, RowFilter } from '../filter.ts'
import type { Host } from '../host.ts'
import type { KeyPress } from '../keys.ts'
import { mark, wrap } from '../lines.ts'
import { RowActions } from '../row-actions.ts'
import { RowStream } from '../row-stream.ts'
import { coverageOf, scopeInput } from '../scope.ts'
import type { DrawArea, Hint, Screen, TextTheme } from '../screen.ts'
import { moveSelection, type Selection, stepOf } from '../selection.ts'
import { TableLayout } from '../table-layout.ts'
import { FormScreen } from './form.ts'
import { RecordScreen } from './record.ts'

/** Of what was before, so many are shown. */
const seedRows = 200

/** A stream of rows as it comes, after what its noun's list has already. */
export class LiveScreen implements Screen {
  readonly title: string
  readonly #host: Host
  readonly #tail: Operation
  readonly #list: Operation | null
  readonly #show: Operation | null
  readonly #flow = new RowStream()
  readonly #filter = new RowFilter()
  /** What was chosen here besides the scope. */
  #given: Record<string, unknown> = {}
  #layout: TableLayout | null = null
  #report: FaultReport | null = null
  #seeded = false
  /** How far back a search has come that goes on. */
  #searchedUntil: string | null = null
  #stop: (() => void) | null = null
  #paused = false
  #selection: Selection = { index: 0, top: 0 }
  #height = 1
  /** Whose requests are shown, where another screen chose them. */
  #label: string | null = null
  readonly #actions: RowActions
  readonly #detail = new DetailPane()

  constructor(host: Host, tail: Operation, title: string) {
    this.#host = host
    this.#tail = tail
    this.title = title
    const area = host.areas.find(({ operations }) => operations.includes(tail))
    this.#list = area?.list ?? null
    this.#actions = new RowActions(host, this.#list ?? tail, {})
    this.#show = area?.operations.find((operation) => verbOf(operation) === 'show') ?? null
  }

  get typing(): boolean {
    return this.#filter.typing
  }

  show(): void {
    if (this.#stop !== null) return
    const seeding = new AbortController()
    this.#searchedUntil = null
    this.#flow.begin()
    const follow = this.#host.link.follow(
      this.#tail,
      this.#input(this.#tail),
      (row) => {
        this.#flow.addRow(row)
        this.#host.changed()
      },
      (report, behind) => {
        if (behind) return this.refresh()
        this.#report = report
        this.#host.changed()
      },
    )
    this.#stop = () => {
      seeding.abort()
      follow()
    }
    void this.#seed(seeding.signal)
    this.#detail.show()
  }

  #input(operation: Operation): object {
    return { ...scopeInput(operation, this.#host.scope), ...this.#given }
  }

  hide(): void {
    this.#stop?.()
    this.#stop = null
    this.#detail.hide()
  }

  refresh(): void {
    if (this.#stop === null || this.#host.link.state.kind !== 'live') return
    this.hide()
    this.show()
  }

  /** What was before: a tail alone would show an empty screen until somebody asks for something. */
  async #seed(signal: AbortSignal): Promise<void> {
    if (this.#list === null) {
      this.#seeded = true
      return
    }
    try {
      await this.#seedFrom(this.#list, signal)
      if (signal.aborted) return
      this.#report = null
    } catch (error) {
      if (signal.aborted) return
      this.#report = reportFault(error)
    }
    this.#seeded = true
    this.#host.changed()
  }

  /** What takes long to find is shown as far as it was found, and how far that is. */
  async #seedFrom(list: Operation, signal: AbortSignal): Promise<void> {
    const search = this.#host.operations.find(({ name }) => name === 'requests.search')
    const input = { ...this.#input(list), limit: seedRows }
    if (search === undefined || !isSearch(list.name, input)) {
      const rows = await this.#host.link.call(list, input, signal)
      if (!signal.aborted && Array.isArray(rows)) this.#flow.seed(rows)
      return
    }
    const found: unknown[] = []
    for (let before: unknown; before !== null; ) {
      const left = { ...input, limit: seedRows - found.length, ...(before === undefined ? {} : { before }) }
      const page = await this.#host.link.call(search, left, signal)
      const rows = valueAt(page, 'requests')
      if (signal.aborted || !Array.isArray(rows)) return
      found.push(...rows)
      this.#flow.seed(found)
      const reached = valueAt(page, 'searched_until')
      this.#searchedUntil = typeof reached === 'string' ? reached : null
      before = this.#searchedUntil === null || found.length >= seedRows ? null : (valueAt(page, 'before') ?? null)
      this.#host.changed()
    }
    this.#searchedUntil = null
  }

  draw(area: DrawArea): string[] {
    return this.#detail.draw(area, (left) => this.#drawRows(left))
  }

  #drawRows(area: DrawArea): string[] {
    const { width, height, theme } = area
    this.#hold()
    const rows = this.#flow.rows
    const head = this.#drawHead(rows.length, theme)
    if (this.#report !== null && this.#flow.kept === 0) return [...head, ...this.#drawReport(width, theme)]
    if (rows.length === 0) return [...head, '', ...this.#drawEmpty(width)]
    this.#layout ??= new TableLayout(columnsOf(this.#tail, rows[0]))
    this.#height = Math.max(1, height - head.length - 1)
    this.#selection = moveSelection(this.#selection, 0, rows.length, this.#height)
    const { top, index } = this.#selection
    const seen = rows.slice(top, top + this.#height)
    this.#layout.measure(seen, theme)
    const layout = this.#layout
    const lines = seen.map((row, line) => {
      const selected = top + line === index
      const cells = layout.row(row, width - 2, theme, selected && theme.colour)
      return mark(selected, theme) + (selected ? theme.paint('strong', cells) : cells)
    })
    return [...head, `  ${layout.head(width - 2, theme)}`, ...lines].map((line) => clip(line, width))
  }

  /** Whoever has gone down reads, and nothing moves until he is back at the top. */
  #hold(): void {
    if (this.#paused || this.#selection.index > 0 || this.#detail.isOpen) this.#flow.held = true
    else this.#flow.release()
  }

  #drawHead(count: number, theme: TextTheme): string[] {
    const waiting = this.#flow.waiting
    const live = this.#host.link.state.kind === 'live'
    const light = !live
      ? theme.paint('bad', '○ not connected')
      : this.#paused
        ? theme.paint('warning', '‖ paused')
        : theme.paint('good', '● live')
    const chosen = Object.entries(this.#given).map(([name, value]) => `${name} ${String(value)}`)
    const given = this.#label ?? chosen.join(', ')
    const covers = coverageOf(this.#tail, this.#input(this.#tail), this.#host.scope)
    const words = [
      light,
      ...(covers === null ? [] : [escapeControls(covers)]),
      `${groupDigits(count)} shown`,
      ...(waiting > 0 ? [theme.paint('strong', `${waiting} new: g`)] : []),
      ...(this.#searchedUntil === null
        ? []
        : [
            `searched back to ${formatValue(this.#searchedUntil, 'time', { now: this.#host.now(), utc: false })}, searching on`,
          ]),
      ...(given === '' ? [] : [`filters: ${escapeControls(given)}`]),
    ]
    return [words.join(theme.paint('quiet', '  ·  ')), ...this.#filter.draw(count, this.#flow.kept, theme)]
  }

  #drawReport(width: number, theme: TextTheme): string[] {
    const report = this.#report
    return report === null ? [] : ['', theme.paint('bad', clip(report.cause, width)), ...wrap(report.hint, width)]
  }

  #drawEmpty(width: number): string[] {
    if (!this.#seeded) return ['  Loading…']
    const show = this.#list?.meta.show
    const text = show?.as === 'table' ? show.empty : 'No data yet.'
    return wrap(text, width - 2).map((line) => `  ${line}`)
  }

  hints(): Hint[] {
    if (this.#filter.typing)
      return [
        ['enter', 'apply, or open a req_ ID'],
        ['esc', 'clear'],
      ]
    const own = this.#detail.hints()
    if (own !== null) return own
    return [
      ['↑↓', 'move'],
      ['enter', this.#detail.isOpen ? 'full' : 'open'],
      ['p', this.#paused ? 'resume' : 'pause'],
      ['/', 'filter'],
      ['f', 'filters…'],
      ...this.#escape(),
      ...this.#actions.hints(this.#flow.rows[this.#selection.index]),
    ]
  }

  #escape(): Hint[] {
    if (this.#detail.isOpen) return [['esc', 'close']]
    return Object.keys(this.#given).length > 0 ? [['esc', 'all requests']] : []
  }

  paste(text: string): void {
    if (!this.#filter.typing) return
    this.#filter.paste(text)
    this.#sift()
  }

  press(press: KeyPress): boolean {
    const wasTyping = this.#filter.typing
    if (!wasTyping && this.#detail.press(press)) return true
    if (this.#detail.hasKeys) return false
    if (this.#filter.press(press)) {
      this.#sift()
      if (wasTyping && press.name === 'enter') this.#openById()
      return true
    }
    return this.#move(press.name) || this.#act(press.name)
  }

  #sift(): void {
    const text = this.#filter.text
    this.#flow.setFilter((row) => matches(row, text))
  }

  /** A whole id is a question of its own, for what is no longer, or was never, in the list. */
  #openById(): void {
    const { given } = this.#filter
    const id = findRequestId(given) ?? given
    if (!/^req_\w{10,}$/.test(id) || this.#show === null) return
    this.#filter.clear()
    this.#sift()
    this.#host.open({ operation: this.#show, given: { id } })
  }

  #move(name: string): boolean {
    const step = stepOf(name, this.#height)
    if (step === null) return false
    if (step === Number.NEGATIVE_INFINITY && !this.#paused) this.#flow.release()
    this.#selection = moveSelection(this.#selection, step, this.#flow.rows.length, this.#height)
    if (this.#detail.isOpen) this.#open()
    return true
  }

  #act(name: string): boolean {
    if (name === 'enter' || name === 'right') this.#open()
    else if (name === 'p') this.#pause()
    else if (name === 'f') this.#askFilters()
    else if (name === 'escape' && Object.keys(this.#given).length > 0) this.filterBy({}, '')
    else return this.#actions.press(name, this.#flow.rows[this.#selection.index])
    return true
  }

  #pause(): void {
    this.#paused = !this.#paused
    if (!this.#paused) this.#selection = { index: 0, top: 0 }
  }

  #open(): void {
    const row = this.#flow.rows[this.#selection.index]
    if (row === undefined) return
    const operation = this.#show ?? this.#tail
    // The stream brought the whole row: nothing more to ask.
    this.#flow.held = true
    const request = { operation, given: {}, subject: row }
    this.#detail.open(new RecordScreen(this.#host, request, { output: row, actions: this.#actions }))
  }

  #askFilters(): void {
    const subject = Object.fromEntries(Object.entries(this.#given))
    const form = new FormScreen(
      {
        operation: this.#tail,
        given: {},
        hidden: [],
        subject,
        start: {},
        button: 'Apply',
        namesFor: (field, scope) => this.#host.namesFor(field, scope),
        changed: () => this.#host.changed(),
        complete: async (input) => input,
        submit: (input) => {
          this.#host.pop()
          this.filterBy({ ...input }, '')
        },
      },
      'Filters',
    )
    this.#host.push(form)
  }

  filterBy(filters: Record<string, unknown>, label: string): void {
    const isShown = this.#stop !== null
    this.#given = filters
    this.#label = label === '' ? null : label
    this.#detail.close()
    this.#flow.clear()
    this.#seeded = false
    this.#selection = { index: 0, top: 0 }
    this.hide()
    if (isShown) this.show()
  }
}

function columnsOf({ meta }: Operation, row: unknown) {
  const columns = 'columns' in meta.show ? (meta.show.columns ?? []) : []
  return columns.length === 0 ? deriveColumns(row) : columns.filter(({ format }) => format !== 'id')
}
