import type { z } from 'zod'
import { explanationShape } from '../../src/admin/contract/routes/routes.ts'
import { describeEstimate, describeExpected } from '../../src/admin/contract/show-estimate.ts'
import { escapeControls, formatMoney, groupDigits } from '../../src/admin/contract/show-value.ts'
import type { View } from './view.ts'

type Explanation = z.infer<typeof explanationShape>

/** `routes explain`: the route, each target in order with why it is taken or skipped, and whether the request would be sent. */
export function renderExplanation(output: unknown, view: View): string {
  const explanation = explanationShape.parse(output)
  return `${[
    ...describeRoute(explanation, view),
    ...describeTargets(explanation, view),
    ...describeOptions(explanation),
    ...describePast(explanation),
    ...describeLeft(explanation),
    ...describeVerdict(explanation, view),
  ]
    .map((line) => line.trimEnd())
    .join('\n')}\n`
}

/** The route, and from where it is asked for: most surprises are a key that is elsewhere than the route. */
function describeRoute(explanation: Explanation, view: View): string[] {
  const { model, lane, route, project, environment, key } = explanation
  const asked = view.paint('strong', escapeControls(model))
  const from =
    key === null
      ? `Asked from ${project}/${environment}, without a key: policies are not checked (--key NAME).`
      : `Asked with key ${escapeControls(key.name)}, which is in ${key.project}/${key.environment}.`
  if (route === null) return [`${asked} → no route in ${project}/${environment} (lane ${lane})`, from]
  const scope = `${route.project}/${route.environment ?? 'all environments'}`
  return [`${asked} → route ${escapeControls(route.model)} (${scope}), strategy ${route.strategy}`, from]
}

function describeTargets({ taken, skipped }: Explanation, view: View): string[] {
  const all = [
    ...taken.map((target) => ({ ...target, taken: true })),
    ...skipped.map((target) => ({ ...target, taken: false })),
  ]
  const names = all.map((target) => escapeControls(`${target.provider}/${target.upstream_model}`))
  const width = Math.max(0, ...names.map((name) => name.length))
  return all.map((target, index) => {
    const verdict = target.taken ? view.paint('good', index === 0 ? 'taken' : 'then') : view.paint('warning', 'skipped')
    const said = describeExpected(target)
    const reason = said === '' ? '' : `: ${escapeControls(said)}`
    return `  ${index + 1} ${(names[index] ?? '').padEnd(width)}  ${verdict}${reason}`
  })
}

/** What else would happen to it on its route. */
function describeOptions({ route, routing_signals }: Explanation): string[] {
  if (route === null) return []
  const { hedge, shadow } = route
  return [
    ...routing_signals.filter(({ rule }) => rule === 'affinity').map(({ text }) => escapeControls(text)),
    ...(hedge === null ? [] : [`After ${hedge.after} of silence a second target is asked (at most ${hedge.share}%).`]),
    ...(shadow === null ? [] : [`Once answered, it goes to ${escapeControls(shadow)} as well.`]),
  ]
}

/** What is left of the key's limits and budgets. */
function describeLeft({ limits, periods }: Explanation): string[] {
  const windows = limits.map(({ kind, left, limit, policy }) => {
    const unit = kind === 'concurrency' ? 'requests at once' : `${kind} a minute`
    return `${leftOf(left, limit, groupDigits)} ${unit} (policy ${escapeControls(policy)})`
  })
  const budgets = periods.map(({ kind, period, left, limit, policy }) => {
    const [write, unit] = kind === 'usd' ? [formatMoney, 'a'] : [groupDigits, 'tokens a']
    return `${leftOf(left, limit, write)} ${unit} ${period} (policy ${escapeControls(policy)})`
  })
  return [...windows, ...budgets].map((text) => `Left: ${text}`)
}

function leftOf(left: number | null, limit: number, write: (value: number) => string): string {
  return left === null ? `each end user's part of ${write(limit)}` : `${write(left)} of ${write(limit)}`
}

function describePast({ request }: Explanation): string[] {
  if (request === null) return []
  const { id, provider, upstream_model, bytes } = request
  const sent = provider === null ? 'was sent nowhere' : `was sent to ${provider}/${upstream_model ?? ''}`
  return [escapeControls(`Request ${id} ${sent}.`), `${describeEstimate(bytes)} To use a body: --body FILE.`]
}

function describeVerdict({ error, policy_signals, note }: Explanation, view: View): string[] {
  const lines = [
    error === null
      ? `${view.paint('good', 'Would be sent')}.`
      : `${view.paint('bad', 'Would be rejected')}: ${error.code}. ${escapeControls(error.message)}`,
  ]
  for (const signal of policy_signals) lines.push(`  ${signal.verdict.padEnd(5)} ${escapeControls(signal.text)}`)
  if (note !== null) lines.push(`For operators: ${escapeControls(note)}`)
  return lines
}
