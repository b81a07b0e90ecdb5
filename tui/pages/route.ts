import { textWidth } from '../../cli/print/text-width.ts'
import { escapeControls, formatMilliseconds, formatShare, valueAt } from '../../src/admin/contract/show-value.ts'
import { flow, wrap } from '../lines.ts'
import { remainingLines } from '../result-lines.ts'
import type { DrawArea, TextTheme } from '../screen.ts'
import { numberAt } from '../status-watch.ts'
import {
  besideName,
  count,
  describeAttempts,
  describeState,
  listAt,
  type RecordPage,
  reasonOf,
  section,
  textAt,
} from './page.ts'
import { drawTraffic } from './traffic.ts'

const drawnAbove = ['model', 'project', 'environment', 'enabled', 'strategy', 'targets', 'retries']
const barWidth = 10

/** Where a model's requests go: its targets in the order in which they are tried, each with its state and its share. */
export const routePage: RecordPage = {
  questions(route) {
    const scope = { project: textAt(route, 'project') ?? '' }
    const environment = textAt(route, 'environment')
    const within = environment === null ? scope : { ...scope, environment }
    const filters = { ...within, route: textAt(route, 'model') ?? '', since: '1h' }
    const everywhere = environment === null ? { allEnvironments: true } : {}
    return [
      { operation: 'routes.traffic', input: { model: textAt(route, 'id') ?? '', ...within, ...everywhere } },
      { operation: 'providers.list', input: {} },
      { operation: 'requests.stats', input: { ...filters, by: 'total' } },
      { operation: 'requests.series', input: { ...filters, step: '1m' } },
    ]
  },
  draw(route, answers, { width, theme }) {
    const place = `${textAt(route, 'project') ?? ''}/${textAt(route, 'environment') ?? 'all environments'}`
    const isOn = valueAt(route, 'enabled') !== false
    return [
      besideName(
        escapeControls(textAt(route, 'model') ?? ''),
        ({ paint }) => (isOn ? paint('good', '● enabled') : paint('quiet', '○ disabled: no requests are sent')),
        { width, theme },
      ),
      ...wrap(`${place}, ${describeStrategy(route)}`, width).map((line) => theme.paint('quiet', line)),
      '',
      ...drawTargets(route, answers, { width, theme }),
      ...section(
        'Requests, last hour',
        [
          ...drawTraffic(answers.get('requests.series'), width - 2, theme),
          ...flow(describeRequests(answers.get('requests.stats'), theme), width - 2),
        ],
        theme,
      ),
      ...section('Settings', remainingLines(route, drawnAbove, { ...theme, width: width - 2 }), theme),
    ]
  },
}

function describeStrategy(route: unknown): string {
  const retries = numberAt(route, 'retries') ?? 0
  const again = retries === 0 ? 'no retries' : `${retries} ${retries === 1 ? 'retry' : 'retries'} on each target`
  const strategy = textAt(route, 'strategy') ?? 'priority'
  return `${strategy === 'priority' ? 'first ready target' : `by ${strategy}`}, ${again}`
}

function drawTargets(
  route: unknown,
  answers: ReadonlyMap<string, unknown>,
  { width, theme }: Pick<DrawArea, 'width' | 'theme'>,
): string[] {
  const targets = inOrder(listAt(route, 'targets'))
  const names = targets.map(nameOf)
  const widest = Math.max(0, ...names.map((name) => textWidth(name)))
  const isWeighted = textAt(route, 'strategy') === 'weighted'
  return targets.flatMap((target, index) => {
    const isLast = index === targets.length - 1
    const share = valueAt(target, 'weight')
    // Without any a target gets nothing, whatever the strategy.
    const weight = isWeighted || share === 0 ? `weight ${String(share)}  ` : ''
    const found = stateOf(target, answers)
    const describe = (painted: TextTheme) => `${weight}${describeState(found, painted)}`
    const reason = reasonOf(found)
    const below = [
      ...(reason === null ? [] : wrap(reason, width - 6)),
      ...describeFormats(target, width - 6),
      ...flow(describeShare(target, answers.get('routes.traffic'), theme), width - 6),
    ]
    return [
      `${isLast ? '└─' : '├─'} ${index + 1}  ${besideName(names[index] ?? '', describe, { width: width - 6, theme }, widest)}`,
      ...below.map((line) => `${isLast ? '   ' : '│  '}   ${line}`),
    ]
  })
}

function describeFormats(target: unknown, width: number): string[] {
  const formats = listAt(target, 'formats').map(String)
  return formats.length === 0 ? [] : wrap(`format ${formats.join(', ')}`, width)
}

/** As they are tried: the lower number first. */
function inOrder(targets: readonly unknown[]): readonly unknown[] {
  return targets.toSorted((one, other) => (numberAt(one, 'priority') ?? 0) - (numberAt(other, 'priority') ?? 0))
}

function nameOf(target: unknown): string {
  const upstream = textAt(target, 'upstream_model')
  const provider = textAt(target, 'provider') ?? ''
  return escapeControls(upstream === null ? provider : `${provider}:${upstream}`)
}

/** A provider that is failing or switched off decides; else the target's own state. */
function stateOf(target: unknown, answers: ReadonlyMap<string, unknown>): unknown {
  const providers = answers.get('providers.list')
  const provider: unknown = (Array.isArray(providers) ? providers : []).find(
    (one) => valueAt(one, 'name') === valueAt(target, 'provider'),
  )
  const isOut = valueAt(provider, 'active') === false || valueAt(provider, 'state') === 'failing'
  return isOut || textAt(target, 'state') === null ? provider : target
}

function describeShare(target: unknown, traffic: unknown, theme: TextTheme): string[] {
  const upstream = textAt(target, 'upstream_model')
  const own = (Array.isArray(traffic) ? traffic : []).filter(
    (row: unknown) =>
      valueAt(row, 'provider') === valueAt(target, 'provider') &&
      // Without a name of its own the target has the client's, which a pattern leaves open.
      (upstream === null || valueAt(row, 'upstream_model') === upstream),
  )
  const figures = own.length === 1 ? own[0] : addUp(own)
  if ((numberAt(figures, 'requests') ?? 0) === 0) return [theme.paint('quiet', 'no attempts in the last hour')]
  const share = sumOf(own, 'share')
  const filled = Math.round(Math.min(1, share) * barWidth)
  const bar = theme.paint('good', '█'.repeat(filled)) + theme.paint('quiet', '░'.repeat(barWidth - filled))
  return [`${bar} ${formatShare(share)}`, ...describeAttempts(figures, theme)]
}

/** Percentiles do not add up; counts do. */
function addUp(rows: readonly unknown[]): object {
  const names = ['tried', 'failed', 'fell_back', 'requests', 'errors'] as const
  const known = names.filter((name) => rows.some((row) => numberAt(row, name) !== null))
  return Object.fromEntries(known.map((name) => [name, sumOf(rows, name)]))
}

function sumOf(rows: readonly unknown[], name: string): number {
  return rows.reduce<number>((sum, row) => sum + (numberAt(row, name) ?? 0), 0)
}

function describeRequests(stats: unknown, theme: TextTheme): string[] {
  const total: unknown = Array.isArray(stats) ? stats[0] : undefined
  const requests = numberAt(total, 'requests') ?? 0
  if (requests === 0) return [theme.paint('quiet', 'No requests yet. Press t to send a test request.')]
  const errors = numberAt(total, 'errors') ?? 0
  const p95 = numberAt(total, 'duration_p95_ms')
  const said = `${formatShare(errors / requests)} errors`
  return [
    `${count(requests, theme)} ${requests === 1 ? 'request' : 'requests'}`,
    errors === 0 ? said : theme.paint('bad', said),
    ...(p95 === null ? [] : [`p95 ${formatMilliseconds(p95)}`]),
  ]
}
