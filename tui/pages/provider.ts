import { alignText } from '../../cli/print/table.ts'
import { textWidth } from '../../cli/print/text-width.ts'
import { isLimitUsage } from '../../src/admin/contract/show-limit.ts'
import { escapeControls, formatValue, valueAt } from '../../src/admin/contract/show-value.ts'
import { columnsOf, flow, wrap } from '../lines.ts'
import { remainingLines } from '../result-lines.ts'
import { describeScope } from '../scope.ts'
import type { TextTheme } from '../screen.ts'
import { drawLimits } from './limits.ts'
import {
  besideName,
  describeAttempts,
  describeState,
  listAt,
  type RecordPage,
  reasonOf,
  section,
  textAt,
} from './page.ts'
import { drawTraffic } from './traffic.ts'

/** What is drawn above, or means nothing to a person. */
const drawnAbove = [
  'name',
  'kind',
  'active',
  'state',
  'state_reason',
  'state_code',
  'state_since',
  'base_url',
  'revision',
  'routes',
  'targets',
  'calls_without_model',
  'last_hour',
  'rpm',
  'tpm',
  'budget_usd_month',
  'limits',
]

/** How a provider is and why, what its calls came to, who uses it, and since when. */
export const providerPage: RecordPage = {
  questions: (provider) => [
    { operation: 'providers.attempts', input: { since: '1h', step: '1m', name: textAt(provider, 'id') ?? '' } },
    { operation: 'providers.history', input: { name: textAt(provider, 'id') ?? '', since: '7d' } },
    { operation: 'routes.list', input: { all: true } },
  ],
  draw(provider, answers, { width, theme }) {
    const facts = [
      textAt(provider, 'kind'),
      textAt(provider, 'base_url'),
      `revision ${String(valueAt(provider, 'revision'))}`,
    ]
    return [
      besideName(escapeControls(textAt(provider, 'name') ?? ''), (painted) => describeState(provider, painted), {
        width,
        theme,
      }),
      ...wrap(reasonOf(provider) ?? '', width).filter((line) => line !== ''),
      ...wrap(facts.filter((fact) => fact !== null).join(', '), width).map((line) => theme.paint('quiet', line)),
      ...section(
        'Last hour',
        [
          ...flow(describeAttempts(valueAt(provider, 'last_hour'), theme), width - 2),
          ...drawTraffic(answers.get('providers.attempts'), width - 2, theme),
        ],
        theme,
      ),
      ...section('Models in use', targetLines(provider, width - 2, theme), theme),
      ...section('Calls without a model', otherLines(provider, width - 2, theme), theme),
      ...section('Used by routes', routeLines(provider, answers.get('routes.list'), width - 2), theme),
      ...section('State changes', historyLines(answers.get('providers.history'), width - 2, theme), theme),
      ...section(
        'Account limits',
        drawLimits(listAt(provider, 'limits').filter(isLimitUsage), width - 2, theme),
        theme,
      ),
      ...section('Settings', remainingLines(provider, drawnAbove, { ...theme, width: width - 2 }), theme),
    ]
  },
}

/** The reason is said where it is not the provider's own. */
function targetLines(provider: unknown, width: number, theme: TextTheme): string[] {
  const targets = listAt(provider, 'targets')
  const names = targets.map((target) => escapeControls(textAt(target, 'upstream_model') ?? ''))
  const widest = Math.max(0, ...names.map((name) => textWidth(name)))
  return targets.flatMap((target, index) => {
    const reason = reasonOf(target)
    const line = `${alignText(names[index] ?? '', widest, false)}  ${describeState(target, theme)}`
    const isOwn = reason !== null && reason !== reasonOf(provider)
    return [line, ...(isOwn ? wrap(reason, width - 2).map((part) => `  ${part}`) : [])]
  })
}

/** Files, batches and the like have a state of their own. */
function otherLines(provider: unknown, width: number, theme: TextTheme): string[] {
  const others = valueAt(provider, 'calls_without_model')
  const concerns = textAt(others, 'concerns')
  if (concerns === null) return []
  const reason = reasonOf(others)
  const isOwn = reason !== null && reason !== reasonOf(provider)
  const line = `${escapeControls(concerns)}  ${describeState(others, theme)}`
  return [line, ...(isOwn ? wrap(reason, width - 2).map((part) => `  ${part}`) : [])]
}

/** `smart  default/production  target 1 of 2` */
function routeLines(provider: unknown, routes: unknown, width: number): string[] {
  const name = textAt(provider, 'name')
  const using = (Array.isArray(routes) ? routes : []).flatMap((route: unknown) => {
    const targets = listAt(route, 'targets')
    const place = targets.findIndex((target) => valueAt(target, 'provider') === name)
    if (place < 0) return []
    const scope = { project: textAt(route, 'project'), environment: textAt(route, 'environment') }
    const order = targets.length === 1 ? 'its only target' : `target ${place + 1} of ${targets.length}`
    const off = valueAt(route, 'enabled') === false ? ', route disabled' : ''
    return [[escapeControls(textAt(route, 'model') ?? ''), escapeControls(describeScope(scope)), order + off]]
  })
  return columnsOf(using, width)
}

function historyLines(history: unknown, width: number, theme: TextTheme): string[] {
  const rows = (Array.isArray(history) ? history : [])
    .slice(0, 8)
    .map((change: unknown) => [
      formatValue(valueAt(change, 'time'), 'age', theme),
      escapeControls([textAt(change, 'state'), textAt(change, 'reason')].filter((part) => part !== null).join(': ')),
    ])
  return columnsOf(rows, width)
}
