import { limitRows } from '../../src/admin/contract/show-limit.ts'
import { describeOpening } from '../../src/admin/contract/show-valkey.ts'
import {
  escapeControls,
  formatBytes,
  formatMilliseconds,
  formatMoney,
  formatShare,
  formatValue,
  valueAt,
} from '../../src/admin/contract/show-value.ts'
import { isUnpriced } from '../../src/admin/contract/unpriced.ts'
import { failsOften } from '../../src/core/attempt-figures.ts'
import { clip, pad } from '../clip.ts'
import { drawSteps } from '../first-steps.ts'
import type { Host } from '../host.ts'
import type { KeyPress } from '../keys.ts'
import { flow, pairs, wrap } from '../lines.ts'
import { Pager } from '../pager.ts'
import { drawLimits } from '../pages/limits.ts'
import { section } from '../pages/page.ts'
import { drawTraffic } from '../pages/traffic.ts'
import { PolledAnswer } from '../polled-answer.ts'
import { describeScope, isInScope, scopeInput } from '../scope.ts'
import type { DrawArea, Hint, Screen, TextTheme } from '../screen.ts'
import { numberAt } from '../status-watch.ts'
import { TableLayout } from '../table-layout.ts'

const providerFields = ['name', 'state', 'last_hour.requests', 'last_hour.failed', 'last_hour.duration_p95_ms']
const modelFields = ['group', 'requests', 'errors', 'duration_p95_ms', 'usd']
const requestFields = ['time', 'status', 'model', 'provider', 'key.name', 'first_byte_ms', 'duration_ms', 'cost.usd']

const mostBudgets = 3

/** How the gateway is, what came lately, and where it went. */
export class OverviewScreen implements Screen {
  readonly title = 'Overview'
  readonly #host: Host
  readonly #pager = new Pager()
  readonly #stats: PolledAnswer | null
  readonly #series: PolledAnswer | null
  readonly #models: PolledAnswer | null
  readonly #providers: PolledAnswer | null
  readonly #requests: PolledAnswer | null

  constructor(host: Host) {
    this.#host = host
    this.#stats = this.#load('requests.stats', { since: '1h', by: 'total' })
    this.#series = this.#load('requests.series', { since: '1h', step: '1m' })
    this.#models = this.#load('requests.stats', { since: '1h', by: 'model' })
    this.#providers = this.#load('providers.list', {})
    this.#requests = this.#load('requests.list', { limit: 20 })
  }

  #load(name: string, input: object): PolledAnswer | null {
    const operation = this.#host.operations.find((known) => known.name === name)
    if (operation === undefined) return null
    return new PolledAnswer(this.#host, operation, { ...scopeInput(operation, this.#host.scope), ...input })
  }

  get #loads(): PolledAnswer[] {
    const all = [this.#stats, this.#series, this.#models, this.#providers, this.#requests]
    return all.filter((one) => one !== null)
  }

  show(): void {
    for (const one of this.#loads) one.start()
  }

  hide(): void {
    for (const one of this.#loads) one.stop()
  }

  refresh(): void {
    for (const one of this.#loads) one.reload()
  }

  draw(area: DrawArea): string[] {
    const { status } = this.#host
    if (status === undefined) return [area.theme.paint('quiet', 'Loading…')]
    const { width, height, theme } = area
    const steps = drawSteps(status, this.#rows(this.#requests).length > 0, theme)
    const gateway = (room: number) => this.#drawGateway(status, { ...area, width: room })
    const traffic = (room: number) => this.#drawTraffic({ ...area, width: room })
    const providers = (room: number) =>
      this.#drawTable(this.#providersTitle, this.#providers, providerFields, room, theme)
    const models = (room: number) =>
      this.#drawTable(`Models, last hour${this.#within}`, this.#models, modelFields, room, theme)
    const above = beside(gateway, traffic, area)
    const middle = width >= wideFrom || height >= 30 ? beside(providers, models, area) : providers(width)
    const attention = this.#drawAttention(area)
    const budgets = this.#drawBudgets(status, area)
    const lines = [...attention, ...above, '', ...budgets, ...(steps.length > 0 ? [...steps, ''] : []), ...middle, '']
    const left = Math.max(4, height - lines.length - 2)
    lines.push(...this.#drawTable(`Latest requests${this.#within}`, this.#requests, requestFields, width, theme, left))
    return this.#pager.draw(
      lines.map((line) => clip(line, width)),
      area,
    )
  }

  /** Behind the title of what covers the scope only. */
  get #within(): string {
    const { scope } = this.#host
    return scope.project === null ? '' : `, ${escapeControls(describeScope(scope))}`
  }

  /** A provider's figures are of all its traffic, whoever sent it. */
  get #providersTitle(): string {
    const { project } = this.#host.scope
    return project === null ? 'Providers' : `Providers usable in ${escapeControls(project)}, all their traffic`
  }

  #rows(loaded: PolledAnswer | null): readonly unknown[] {
    const rows: readonly unknown[] = Array.isArray(loaded?.data) ? loaded.data : []
    return loaded === this.#providers ? rows.filter((row) => isInScope(row, this.#host.scope)) : rows
  }

  /** What is wrong, before anything else: providers that fail, with what their attempts came to. */
  #drawAttention({ width, theme }: DrawArea): string[] {
    const wrong = this.#rows(this.#providers).filter((provider) => {
      const state = valueAt(provider, 'state')
      const isOut = state === 'failing' || state === 'recovering'
      return valueAt(provider, 'active') !== false && (isOut || failsOften(attemptsAt(provider)))
    })
    const unpriced = this.#unpriced(theme, width)
    if (wrong.length + unpriced.length === 0) return []
    const lines = wrong.slice(0, 5).flatMap((provider) => {
      const name = escapeControls(String(valueAt(provider, 'name')))
      const { tried, failed } = attemptsAt(provider)
      const figures = failed === 0 ? [] : [`${failed} of ${tried} attempts failed in the last hour`]
      const state = valueAt(provider, 'state')
      const why = valueAt(provider, 'state_reason') ?? (state === 'ready' ? null : state)
      const text = `${name}: ${[...figures, why].filter((part) => part !== null).join(', ')}`
      return wrap(text, width - 4).map((line, index) => `  ${index === 0 ? theme.paint('bad', '▲') : ' '} ${line}`)
    })
    const more = wrong.length > 5 ? [`  ${wrong.length - 5} more: press 2`] : []
    return [theme.paint('strong', 'Needs attention'), ...lines, ...more, ...unpriced, '']
  }

  /** Under a budget in USD: whoever set it takes it to cover all. */
  #unpriced(theme: TextTheme, width: number): string[] {
    const budgets = limitRows([{ periods: valueAt(this.#host.status, 'budgets') }])
    if (!budgets.some(({ kind }) => kind === 'usd')) return []
    const models = this.#rows(this.#models).filter(isUnpriced).slice(0, 3)
    return models.flatMap((model) => {
      const name = escapeControls(String(valueAt(model, 'group')))
      const text = `${name} has no price: its cost is unknown. Where a budget in USD applies, it is denied, or passes uncounted. To set one: :prices set`
      return wrap(text, width - 4).map((line, index) => `  ${index === 0 ? theme.paint('warning', '▲') : ' '} ${line}`)
    })
  }

  #drawGateway(status: unknown, { width, theme }: DrawArea): string[] {
    const degraded = valueAt(status, 'degraded')
    const parts = Array.isArray(degraded) ? degraded : []
    const since = formatValue(valueAt(status, 'started_at'), 'age', theme)
    const started = theme.utc ? `since ${since}` : `started ${since}`
    const until = valueAt(valueAt(valueAt(status, 'cluster'), 'valkey'), 'opening_until')
    const waits = describeOpening(typeof until === 'string' ? until : null, (time) => formatValue(time, 'age', theme))
    const well =
      parts.length === 0 && waits.length === 0
        ? theme.paint('good', '● healthy')
        : theme.paint('warning', parts.length === 0 ? '▲ limits wait' : `▲ degraded: ${String(parts.length)}`)
    const bytes = numberAt(status, 'database_bytes')
    const limit = numberAt(status, 'database_limit_bytes')
    const size =
      bytes === null ? '' : `, ${formatBytes(bytes)}${limit === null ? '' : ` of at most ${formatBytes(limit)}`}`
    const data = `${String(valueAt(status, 'data_directory'))}${size}`
    const flight = formatValue(numberAt(status, 'in_flight') ?? 0, 'number', theme)
    const version = width >= 70 ? [escapeControls(`spgw ${String(valueAt(status, 'version'))}`)] : []
    const rows: [string, string][] = [
      ['Gateway', [well, started, `${flight} in flight`, ...version].join(', ')],
      ['Gateway URL', escapeControls(String(valueAt(status, 'gateway_url')))],
      ['Console', escapeControls(String(valueAt(status, 'console_url') ?? 'off'))],
      ...(width >= 70 ? [['Data', escapeControls(data)] as [string, string]] : []),
    ]
    const said = [
      ...parts.map((part) => `${String(valueAt(part, 'part'))}: ${String(valueAt(part, 'reason'))}`),
      ...waits.map((words) => `limits: ${words}`),
    ]
    const reasons = said.flatMap((words) => wrap(words, width - 2).map((line) => theme.paint('warning', `  ${line}`)))
    return [...pairs(rows, theme), ...reasons]
  }

  /** Budgets of the scope, the one nearest to its end first. */
  #drawBudgets(status: unknown, { width, theme }: DrawArea): string[] {
    const { project } = this.#host.scope
    const isShown = ({ scope }: { scope: string }) =>
      project === null || scope === 'workspace' || scope.split(/[:/]/)[1] === project
    const budgets = limitRows([{ periods: valueAt(status, 'budgets') }]).filter(isShown)
    if (budgets.length === 0) return []
    const lines = drawLimits(budgets.slice(0, mostBudgets), width - 2, theme)
    const more =
      budgets.length > mostBudgets
        ? [theme.paint('quiet', `${budgets.length - mostBudgets} more: :policies usage`)]
        : []
    return [...section(`Budgets${this.#within}`, [...lines, ...more], theme).slice(1), '']
  }

  /** The last hour: a bar a minute where the gateway tells of each, and the sums. */
  #drawTraffic({ width, theme }: DrawArea): string[] {
    const [total] = this.#rows(this.#stats)
    const requests = numberAt(total, 'requests') ?? 0
    const errors = numberAt(total, 'errors') ?? 0
    const share = requests === 0 ? 0 : errors / requests
    const duration = (path: string) => {
      const value = numberAt(total, path)
      return value === null ? '–' : formatMilliseconds(value)
    }
    const usd = numberAt(total, 'usd')
    const words = [
      `${formatValue(requests, 'number', theme)} requests`,
      theme.paint(share > 0.05 ? 'bad' : 'quiet', `${formatShare(share)} errors`),
      `p50 ${duration('duration_p50_ms')}`,
      `p95 ${duration('duration_p95_ms')}`,
      `${formatValue(numberAt(total, 'input') ?? 0, 'number', theme)} → ${formatValue(numberAt(total, 'output') ?? 0, 'number', theme)} tokens`,
      ...(usd === null ? [] : [formatMoney(usd)]),
    ]
    const bars = drawTraffic(this.#series?.data, width, theme)
    return [theme.paint('strong', `Last hour${this.#within}`), ...bars, ...flow(words, width)]
  }

  #drawTable(
    title: string,
    loaded: PolledAnswer | null,
    fields: readonly string[],
    width: number,
    theme: TextTheme,
    most = 8,
  ): string[] {
    const rows = this.#rows(loaded).slice(0, most)
    const show = loaded?.operation.meta.show
    const columns = show !== undefined && 'columns' in show ? (show.columns ?? []) : []
    if (rows.length === 0) return []
    const layout = new TableLayout(
      columns
        .filter(({ field }) => fields.includes(field))
        .map((column) => (column.field === 'group' ? { ...column, title: 'MODEL' } : column)),
    )
    layout.measure(rows, theme)
    const lines = [layout.head(width - 2, theme), ...rows.map((row) => layout.row(row, width - 2, theme))]
    return [theme.paint('strong', title), ...lines.map((line) => `  ${line}`)]
  }

  hints(): Hint[] {
    return [
      ['1–6', 'tabs'],
      ['↑↓', 'scroll'],
      ['/', 'find a request'],
      ['$', 'spend'],
      ['s', 'project'],
      ['r', 'refresh'],
    ]
  }

  press(press: KeyPress): boolean {
    if (press.name !== 'r') return this.#pager.press(press)
    this.refresh()
    return true
  }
}

function attemptsAt(provider: unknown): { tried: number; failed: number } {
  const count = (name: string) => numberAt(provider, `last_hour.${name}`) ?? 0
  return { tried: count('tried'), failed: count('failed') }
}

const wideFrom = 120

/** Two blocks next to one another where there is room, else one below the other. */
function beside(left: (width: number) => string[], right: (width: number) => string[], { width }: DrawArea): string[] {
  if (width < wideFrom) {
    const [above, below] = [left(width), right(width)]
    return [...above, ...(above.length > 0 && below.length > 0 ? [''] : []), ...below]
  }
  const half = Math.floor(width / 2) - 2
  const [one, other] = [left(half), right(half)]
  const rows = Math.max(one.length, other.length)
  return Array.from({ length: rows }, (_, row) => `${pad(one[row] ?? '', half)}    ${other[row] ?? ''}`.trimEnd())
}
