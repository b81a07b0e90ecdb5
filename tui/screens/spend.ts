import type { Operation } from '../../cli/operation.ts'
import type { Column } from '../../src/admin/contract/operation.ts'
import { escapeControls, formatMoney, formatShare, formatValue, valueAt } from '../../src/admin/contract/show-value.ts'
import { isUnpriced } from '../../src/admin/contract/unpriced.ts'
import { noGroup } from '../../src/core/record.ts'
import { clip } from '../clip.ts'
import type { Host } from '../host.ts'
import type { KeyPress } from '../keys.ts'
import { flow, mark, wrap } from '../lines.ts'
import { drawBars } from '../pages/traffic.ts'
import { PolledAnswer } from '../polled-answer.ts'
import { describeScope, scopeInput } from '../scope.ts'
import type { DrawArea, Hint, Screen, TextTheme } from '../screen.ts'
import { moveSelection, type Selection, stepOf } from '../selection.ts'
import { numberAt } from '../status-watch.ts'
import { TableLayout } from '../table-layout.ts'

/** Whose spend is shown: filters of `requests stats`, and what they are called. */
export interface SpendOf {
  filters: Readonly<Record<string, unknown>>
  label: string
}

const spans = [
  { name: '24 hours', since: '24h', step: '1h' },
  { name: '7 days', since: '7d', step: '1d' },
  { name: '30 days', since: '30d', step: '1d' },
  { name: '90 days', since: '90d', step: '1d' },
] as const
const usualSpan = 2
const ways = ['project', 'key', 'model', 'provider', 'tag', 'node'] as const
type Way = (typeof ways)[number]
/** What of a row's own spend is asked next. */
const nextWays: Partial<Record<Way, Way>> = {
  project: 'key',
  key: 'model',
  provider: 'model',
  tag: 'model',
  node: 'model',
}

/** Sums are those of the past: they change slowly. */
const everyMs = 15_000

interface SpendRow {
  id: string
  group: string
  usd: number | null
  share: string
  requests: number
  input: number
  output: number
}

/** What was spent over time, by whom and on what; Enter asks the same of one row. */
export class SpendScreen implements Screen {
  readonly title: string
  readonly #host: Host
  readonly #of: SpendOf
  #span: number
  #way: Way
  #stats: PolledAnswer | null = null
  #series: PolledAnswer | null = null
  #rows: readonly SpendRow[] = []
  #layout = new TableLayout([])
  #selection: Selection = { index: 0, top: 0 }
  #height = 1

  constructor(host: Host, of: SpendOf = { filters: {}, label: '' }, from: { span: number; way: Way } | null = null) {
    this.#host = host
    this.#of = of
    this.title = of.label === '' ? 'Spend' : `Spend of ${of.label}`
    this.#span = from?.span ?? usualSpan
    this.#way = from?.way ?? this.#ways[0] ?? 'model'
    this.#ask()
  }

  /** What is fixed is no way to group; nor are nodes where the records of one alone are read. */
  get #ways(): readonly Way[] {
    const isAlone = valueAt(valueAt(this.#host.status, 'cluster'), 'records') !== 'shared'
    const fixed = (way: Way) =>
      way in this.#of.filters || (way === 'project' && 'key' in this.#of.filters) || (way === 'node' && isAlone)
    return ways.filter((way) => !fixed(way))
  }

  #ask(): void {
    const { since, step } = spans[this.#span] ?? spans[usualSpan]
    this.#rows = []
    this.#selection = { index: 0, top: 0 }
    this.#stats = this.#load('requests.stats', { since, by: this.#way }, () => this.#take())
    this.#series = this.#load('requests.series', { since, step })
  }

  #load(name: string, input: object, took = () => {}): PolledAnswer | null {
    const operation = this.#host.operations.find((known) => known.name === name)
    if (operation === undefined) return null
    return new PolledAnswer(this.#host, operation, { ...this.#within(operation), ...input }, { everyMs, took })
  }

  #within(operation: Operation): object {
    return { ...scopeInput(operation, this.#host.scope), ...this.#of.filters }
  }

  #take(): void {
    const data: readonly unknown[] = Array.isArray(this.#stats?.data) ? this.#stats.data : []
    const whole = data.reduce<number>((sum, row) => sum + (numberAt(row, 'usd') ?? 0), 0)
    const selected = this.#rows[this.#selection.index]
    this.#rows = data.map((row) => toRow(row, whole)).toSorted(dearestFirst)
    // Whoever presses a key means the row that he saw, wherever it stands now.
    const index = this.#rows.findIndex(({ id, group }) => id === selected?.id && group === selected.group)
    if (index >= 0) this.#selection = { ...this.#selection, index }
    this.#layout = new TableLayout(columnsFor(this.#way))
  }

  show(): void {
    this.#stats?.start()
    this.#series?.start()
  }

  hide(): void {
    this.#stats?.stop()
    this.#series?.stop()
  }

  refresh(): void {
    this.#stats?.reload()
    this.#series?.reload()
  }

  draw({ width, height, theme }: DrawArea): string[] {
    const head = [...this.#drawHead(width, theme), '']
    const notes = this.#drawNotes(width, theme)
    this.#height = Math.max(1, height - head.length - notes.length - 1)
    return [...head, ...this.#drawTable(width, theme), ...notes].map((line) => clip(line, width))
  }

  /** What it was in all, and when. */
  #drawHead(width: number, theme: TextTheme): string[] {
    const span = spans[this.#span]?.name ?? ''
    const place = escapeControls(this.#of.label || describeScope(this.#host.scope))
    const title = theme.paint('strong', `Last ${span}, by ${this.#way}`) + theme.paint('quiet', `  ·  ${place}`)
    const sum = (name: 'usd' | 'requests' | 'input' | 'output') =>
      this.#rows.reduce((total, row) => total + (row[name] ?? 0), 0)
    const count = (value: number) => formatValue(value, 'number', theme)
    const figures = [
      theme.paint('strong', formatMoney(sum('usd'))),
      `${count(sum('requests'))} requests`,
      `${count(sum('input'))} → ${count(sum('output'))} tokens`,
    ]
    // A request with several tags is in several rows, so that their sum is not that of the requests.
    const isSum = this.#way !== 'tag' && this.#rows.length > 0
    return [title, ...drawBars(this.#points(), width, theme), ...(isSum ? flow(figures, width) : [])]
  }

  #points(): number[] {
    const groups = valueAt(this.#series?.data, 'groups')
    const points: unknown = Array.isArray(groups) ? valueAt(groups[0], 'points') : null
    return Array.isArray(points) ? points.map((point) => numberAt(point, 'usd') ?? 0) : []
  }

  #drawTable(width: number, theme: TextTheme): string[] {
    const loaded = this.#stats
    if (loaded?.data === undefined) {
      const report = loaded?.report ?? null
      if (report === null) return [theme.paint('quiet', 'Loading…')]
      return [theme.paint('bad', report.cause), ...wrap(report.hint, width)]
    }
    if (this.#rows.length === 0) return ['  No requests in this time. Press d for another one.']
    this.#layout.measure(this.#rows, theme)
    this.#selection = moveSelection(this.#selection, 0, this.#rows.length, this.#height)
    const { top, index } = this.#selection
    const rows = this.#rows.slice(top, top + this.#height).map((row, seen) => {
      const selected = top + seen === index
      const cells = this.#layout.row(row, width - 2, theme, selected && theme.colour)
      return mark(selected, theme) + (selected ? theme.paint('strong', cells) : cells)
    })
    return [`  ${this.#layout.head(width - 2, theme)}`, ...rows]
  }

  /** What was used and has no price looks as if it were free, and no budget in USD counts it. */
  #drawNotes(width: number, theme: TextTheme): string[] {
    if (!this.#rows.some(isUnpriced)) return []
    const text =
      'A cost of – means that a model has no price; budgets in USD do not count it. To set one: :prices set, then :cost recompute'
    return ['', ...wrap(text, width).map((line) => theme.paint('warning', line))]
  }

  hints(): Hint[] {
    const some = this.#rows.length > 0
    const next = nextWays[this.#way]
    return [
      ...(some ? [['↑↓', 'move'] as const] : []),
      ...(some && next !== undefined ? [['enter', `its ${next}s`] as const] : []),
      ['b', `by ${this.#after(this.#ways, this.#way)}`],
      ['d', `last ${spans[(this.#span + 1) % spans.length]?.name ?? ''}`],
      ...(some ? [['l', 'requests'] as const] : []),
      ['esc', 'back'],
    ]
  }

  press({ name }: KeyPress): boolean {
    const step = stepOf(name, this.#height)
    const row = this.#rows[this.#selection.index]
    if (step !== null) this.#selection = moveSelection(this.#selection, step, this.#rows.length, this.#height)
    else if (name === 'b') this.#again(() => (this.#way = this.#after(this.#ways, this.#way)))
    else if (name === 'd') this.#again(() => (this.#span = (this.#span + 1) % spans.length))
    else if (name === 'r') this.refresh()
    else if (name === 'enter' && row !== undefined) this.#open(row)
    else if (name === 'l' && row !== undefined) this.#showRequests(row)
    else return false
    return true
  }

  #after(all: readonly Way[], one: Way): Way {
    return all[(all.indexOf(one) + 1) % all.length] ?? one
  }

  #again(change: () => void): void {
    this.hide()
    change()
    this.#ask()
    this.show()
  }

  #open(row: SpendRow): void {
    const way = nextWays[this.#way]
    if (way === undefined || isRest(row)) return
    const of = { filters: this.#filtersOf(row), label: this.#labelOf(row) }
    this.#host.push(new SpendScreen(this.#host, of, { span: this.#span, way }))
  }

  #showRequests(row: SpendRow): void {
    if (!isRest(row)) this.#host.showRequests(this.#filtersOf(row), this.#labelOf(row))
  }

  #filtersOf({ id, group }: SpendRow): Record<string, unknown> {
    if (this.#way === 'key') return { ...this.#of.filters, key: id }
    if (this.#way === 'tag') return { ...this.#of.filters, tags: [group] }
    return { ...this.#of.filters, [this.#way]: group }
  }

  #labelOf({ group }: SpendRow): string {
    return [`${this.#way} ${group}`, this.#of.label].filter((part) => part !== '').join(' of ')
  }
}

function toRow(row: unknown, whole: number): SpendRow {
  const usd = numberAt(row, 'usd')
  return {
    id: String(valueAt(row, 'id')),
    group: String(valueAt(row, 'group')),
    usd,
    share: usd === null || whole === 0 ? '' : formatShare(usd / whole),
    requests: numberAt(row, 'requests') ?? 0,
    input: numberAt(row, 'input') ?? 0,
    output: numberAt(row, 'output') ?? 0,
  }
}

function dearestFirst(one: SpendRow, other: SpendRow): number {
  return (other.usd ?? -1) - (one.usd ?? -1) || other.requests - one.requests
}

/** What has no key, model or tag: no filter finds it. */
function isRest({ group }: SpendRow): boolean {
  return group === noGroup
}

function columnsFor(way: Way): readonly Column[] {
  return [
    { field: 'group', title: way.toUpperCase() },
    { field: 'usd', title: 'COST', format: 'money' },
    { field: 'share', title: 'SHARE', absent: '' },
    { field: 'requests', title: 'REQUESTS', format: 'number' },
    { field: 'input', title: 'TOKENS IN', format: 'number' },
    { field: 'output', title: 'TOKENS OUT', format: 'number' },
  ]
}
