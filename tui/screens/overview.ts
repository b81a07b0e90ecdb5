import {
  escapeControls,
  formatBytes,
  formatMilliseconds,
  formatMoney,
  formatShare,
  formatValue,
  valueAt,
} from '../../src/admin/contract/show-value.ts'
import { clip, pad } from '../clip.ts'
import { drawSteps } from '../first-steps.ts'
import { type Host, scopeInput } from '../host.ts'
import type { Press } from '../keys.ts'
import { pairs, wrap } from '../lines.ts'
import { Loaded } from '../loaded.ts'
import { Pager } from '../pager.ts'
import { numberAt } from '../pulse.ts'
import type { Hint, Look, Place, Screen } from '../screen.ts'
import { TableLayout } from '../table-layout.ts'

const providerFields = ['name', 'state', 'last_hour.requests', 'last_hour.duration_p95_ms']
const modelFields = ['group', 'requests', 'errors', 'duration_p95_ms', 'usd']
const requestFields = ['time', 'status', 'model', 'provider', 'key.name', 'first_byte_ms', 'duration_ms', 'cost.usd']

/** How the gateway is, what came lately, and where it went. */
export class OverviewScreen implements Screen {
  readonly title = 'Overview'
  readonly #host: Host
  readonly #pager = new Pager()
  readonly #stats: Loaded | null
  readonly #series: Loaded | null
  readonly #models: Loaded | null
  readonly #providers: Loaded | null
  readonly #requests: Loaded | null

  constructor(host: Host) {
    this.#host = host
    this.#stats = this.#load('requests.stats', { since: '1h', by: 'total' })
    this.#series = this.#load('requests.series', { since: '1h', step: '1m' })
    this.#models = this.#load('requests.stats', { since: '1h', by: 'model' })
    this.#providers = this.#load('providers.list', {})
    this.#requests = this.#load('requests.list', { limit: 20 })
  }

  #load(name: string, input: object): Loaded | null {
    const operation = this.#host.operations.find((known) => known.name === name)
    if (operation === undefined) return null
    return new Loaded(this.#host, operation, { ...scopeInput(operation, this.#host.scope), ...input })
  }

  get #loads(): Loaded[] {
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

  draw(place: Place): string[] {
    const { status } = this.#host
    if (status === undefined) return [place.look.paint('quiet', 'Loading…')]
    const { width, height, look } = place
    const steps = drawSteps(status, this.#rows(this.#requests).length > 0, look)
    const gateway = (room: number) => this.#drawGateway(status, { ...place, width: room })
    const traffic = (room: number) => this.#drawTraffic({ ...place, width: room })
    const providers = (room: number) => this.#drawTable('Providers', this.#providers, providerFields, room, look)
    const models = (room: number) => this.#drawTable('Models, last hour', this.#models, modelFields, room, look)
    const above = beside(gateway, traffic, place)
    const middle = width >= wideFrom || height >= 30 ? beside(providers, models, place) : providers(width)
    const lines = [...above, '', ...(steps.length > 0 ? [...steps, ''] : []), ...middle, '']
    const left = Math.max(4, height - lines.length - 2)
    lines.push(...this.#drawTable('Latest requests', this.#requests, requestFields, width, look, left))
    return this.#pager.draw(
      lines.map((line) => clip(line, width)),
      place,
    )
  }

  #rows(loaded: Loaded | null): readonly unknown[] {
    return Array.isArray(loaded?.data) ? loaded.data : []
  }

  #drawGateway(status: unknown, { width, look }: Place): string[] {
    const degraded = valueAt(status, 'degraded')
    const parts = Array.isArray(degraded) ? degraded : []
    const since = formatValue(valueAt(status, 'started_at'), 'age', look)
    const started = look.utc ? `since ${since}` : `started ${since}`
    const well =
      parts.length === 0
        ? look.paint('good', '● healthy')
        : look.paint('warning', `▲ degraded: ${String(parts.length)}`)
    const bytes = numberAt(status, 'database_bytes')
    const data = `${String(valueAt(status, 'data_directory'))}${bytes === null ? '' : `, ${formatBytes(bytes)}`}`
    const flight = formatValue(numberAt(status, 'in_flight') ?? 0, 'number', look)
    const rows: [string, string][] = [
      ['Gateway', `${well}, ${started}, ${flight} in flight, spgw ${String(valueAt(status, 'version'))}`],
      ['Gateway URL', escapeControls(String(valueAt(status, 'gateway_url')))],
      ['Console', escapeControls(String(valueAt(status, 'console_url') ?? 'off'))],
      ...(width >= 70 ? [['Data', escapeControls(data)] as [string, string]] : []),
    ]
    const reasons = parts.flatMap((part) =>
      wrap(`${String(valueAt(part, 'part'))}: ${String(valueAt(part, 'reason'))}`, width - 2).map((line) =>
        look.paint('warning', `  ${line}`),
      ),
    )
    return [...pairs(rows, look), ...reasons]
  }

  /** The last hour: a bar a minute where the gateway tells of each, and the sums. */
  #drawTraffic({ width, look }: Place): string[] {
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
      `${formatValue(requests, 'number', look)} requests`,
      look.paint(share > 0.05 ? 'bad' : 'quiet', `${formatShare(share)} errors`),
      `p50 ${duration('duration_p50_ms')}`,
      `p95 ${duration('duration_p95_ms')}`,
      `${formatValue(numberAt(total, 'input') ?? 0, 'number', look)} → ${formatValue(numberAt(total, 'output') ?? 0, 'number', look)} tokens`,
      ...(usd === null ? [] : [formatMoney(usd)]),
    ]
    const bars = sparkline(pointsOf(this.#series?.data), Math.min(60, width))
    return [look.paint('strong', 'Last hour'), ...(bars === '' ? [] : [paintBars(bars, look)]), words.join('  ')]
  }

  #drawTable(
    title: string,
    loaded: Loaded | null,
    fields: readonly string[],
    width: number,
    look: Look,
    most = 8,
  ): string[] {
    const rows = this.#rows(loaded).slice(0, most)
    const show = loaded?.operation.meta.show
    const columns = show !== undefined && 'columns' in show ? (show.columns ?? []) : []
    if (rows.length === 0) return []
    const layout = new TableLayout(columns.filter(({ field }) => fields.includes(field)))
    layout.measure(rows, look)
    const lines = [layout.head(width - 2, look), ...rows.map((row) => layout.row(row, width - 2, look))]
    return [look.paint('strong', title), ...lines.map((line) => `  ${line}`)]
  }

  hints(): Hint[] {
    return [
      ['1–6', 'tabs'],
      ['↑↓', 'scroll'],
      ['/', 'find a request'],
      ['s', 'project'],
      ['r', 'refresh'],
    ]
  }

  press(press: Press): boolean {
    if (press.name !== 'r') return this.#pager.press(press)
    this.refresh()
    return true
  }
}

const wideFrom = 120

/** Two blocks next to one another where there is room, else one below the other. */
function beside(left: (width: number) => string[], right: (width: number) => string[], { width }: Place): string[] {
  if (width < wideFrom) {
    const [above, below] = [left(width), right(width)]
    return [...above, ...(above.length > 0 && below.length > 0 ? [''] : []), ...below]
  }
  const half = Math.floor(width / 2) - 2
  const [one, other] = [left(half), right(half)]
  const rows = Math.max(one.length, other.length)
  return Array.from({ length: rows }, (_, row) => `${pad(one[row] ?? '', half)}    ${other[row] ?? ''}`.trimEnd())
}

function pointsOf(series: unknown): number[] {
  const groups = valueAt(series, 'groups')
  const points = Array.isArray(groups) ? valueAt(groups[0], 'points') : undefined
  return Array.isArray(points) ? points.map((point) => numberAt(point, 'requests') ?? 0) : []
}

/** Where nothing came, the line is only hinted at. */
function paintBars(bars: string, look: Look): string {
  return bars.replace(/·+|[^·]+/g, (run) => look.paint(run.startsWith('·') ? 'quiet' : 'good', run))
}

const levels = '▁▂▃▄▅▆▇█'

/** A bar for each point, the last on the right; as high as its share of the highest. */
export function sparkline(points: readonly number[], width: number): string {
  const seen = points.slice(-width)
  const most = Math.max(0, ...seen)
  if (most === 0) return ''
  return seen.map((point) => (point === 0 ? '·' : (levels[Math.ceil((point / most) * 8) - 1] ?? ' '))).join('')
}
