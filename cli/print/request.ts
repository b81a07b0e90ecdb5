import type { z } from 'zod'
import { recordShape } from '../../src/admin/contract/requests/record.ts'
import { providersBehind } from '../../src/admin/contract/requests/request-steps.ts'
import { describeRecord, summarizeRecord } from '../../src/admin/contract/requests/what-happened.ts'
import { absent, escapeControls, formatMoney, formatValue, toneOf } from '../../src/admin/contract/show-value.ts'
import type { Signal } from '../../src/core/record.ts'
import { renderBodies } from './bodies.ts'
import { renderTimeline } from './timeline.ts'
import type { View } from './view.ts'
import { hangingLines, wrapWords } from './wrap.ts'

type ShownRecord = z.infer<typeof recordShape>

/** `requests show`: who asked for what, where the time went, what happened in sentences, the rules, tokens and cost. */
export function renderRequest(output: unknown, view: View): string {
  const record = recordShape.parse(output)
  const parts = [
    renderHead(record, view),
    section('Timeline', renderTimeline(record, view), view),
    section(
      'What happened',
      describeRecord(record).flatMap((text) => wrapSentence(escapeControls(text), view)),
      view,
    ),
    section(
      'Policy',
      record.policy_signals.flatMap((signal) => renderSignal(signal, view)),
      view,
    ),
    section('Failures behind it', linksBehind(record), view),
    section('Tokens and cost', renderTokens(record), view),
    section('Transfer', renderExchange(record), view),
    ...renderBodies(output, record, view),
  ]
  return parts.filter((part) => part !== '').join('\n')
}

function section(title: string, lines: readonly string[], view: View): string {
  if (lines.length === 0) return ''
  return `${view.paint('strong', title)}\n${lines.map((line) => `  ${line}`.trimEnd()).join('\n')}\n`
}

/** In lines that fit; those that go on are set in. */
function wrapSentence(text: string, { width }: View): string[] {
  const lines = wrapWords(text, width === null ? null : width - 4)
  return lines.map((line, index) => (index === 0 ? line : `  ${line}`))
}

function renderHead(record: ShownRecord, view: View): string {
  const tone = record.error === null ? toneOf(record.status, 'state') : 'bad'
  const result = escapeControls(summarizeRecord(record))
  const lines = [
    `${view.paint('strong', record.id)}  ${formatValue(record.time, 'age', view)}${view.utc ? '' : ` (${record.time})`}`,
    ...wrapSentence(result, view).map((line) => (tone === null ? line : view.paint(tone, line))),
    ...wrapSentence(escapeControls(describeCaller(record)), view),
  ]
  return `${lines.join('\n')}\n`
}

function describeCaller(record: ShownRecord): string {
  const scope = record.project === null ? 'no key' : `${record.project}/${record.environment ?? absent}`
  const asked = record.path === null ? '' : `${record.method ?? ''} ${record.path}`.trim()
  const call = [record.lane ?? 'no lane', record.operation ?? '', record.streamed ? 'streamed' : '', asked]
  return `${scope}, ${call.filter(Boolean).join(' ')}${record.route === null ? '' : `, route ${record.route}`}`
}

function renderSignal({ verdict, rule, text }: Signal, view: View): string[] {
  const tone = verdict === 'deny' ? 'bad' : verdict === 'flag' ? 'warning' : null
  const word = verdict.padEnd(5)
  const room = view.width === null ? null : view.width - 2
  const [first = '', ...more] = hangingLines(escapeControls(`${rule}: ${text}`), word.length + 1, room)
  return [`${tone === null ? word : view.paint(tone, word)} ${first}`, ...more]
}

/** Where to look for what made the gateway refuse: only a request that no provider was asked for has this. */
function linksBehind(record: ShownRecord): string[] {
  if (record.error?.code !== 'provider_not_ready') return []
  return providersBehind(record).map((provider) => `spgw requests list --failed-at ${provider} --since 1h`)
}

const figures = { now: 0, utc: true }

function renderTokens({ tokens, usage_detail, cost, estimate_error }: ShownRecord): string[] {
  const lines: string[] = []
  if (tokens !== null) {
    const count = (amount: number) => formatValue(amount, 'number', figures)
    const parts = (...amounts: [number, string][]) => {
      const some = amounts.filter(([amount]) => amount > 0).map(([amount, what]) => `${count(amount)} ${what}`)
      return some.length === 0 ? '' : ` (${some.join(', ')})`
    }
    const cached = parts([tokens.cache_read, 'cache read'], [tokens.cache_write, 'cache write'])
    lines.push(`${count(tokens.input)} in${cached}`)
    lines.push(`${count(tokens.output)} out${parts([tokens.reasoning, 'reasoning'])}, ${tokens.source}`)
  }
  // Searches, sound, tiers: what makes two requests of as many tokens cost differently.
  const beside = Object.entries(usage_detail ?? {}).filter(([, value]) => value !== null)
  const named = beside.map(([name, value]) => `${name.replaceAll('_', ' ')} ${formatValue(value, 'text', figures)}`)
  if (named.length > 0) lines.push(named.join(', '))
  if (cost !== null) lines.push(`${formatMoney(cost.usd)}, prices ${cost.price_version}`)
  else if (tokens !== null) lines.push('No price for this model.')
  if (estimate_error !== null) lines.push(`${formatMoney(estimate_error)} more than budgets held for it`)
  return lines
}

function renderExchange(record: ShownRecord): string[] {
  const bytes = (amount: number) => formatValue(amount, 'bytes', { now: 0, utc: true })
  const lines = [`${bytes(record.request_bytes)} received, ${bytes(record.response_bytes)} sent`]
  const { address, user_agent } = record.client
  if (address !== null || user_agent !== null) {
    lines.push(escapeControls(`client ${[address, user_agent].filter((part) => part !== null).join(', ')}`))
  }
  if (record.provider_request_id !== null) {
    lines.push(escapeControls(`provider request ID ${record.provider_request_id}`))
  }
  const tags = Object.entries(record.tags)
  if (tags.length > 0) lines.push(escapeControls(`tags ${tags.map(([name, value]) => `${name}=${value}`).join(', ')}`))
  return lines
}
