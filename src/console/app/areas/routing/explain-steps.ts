import { formatMilliseconds, formatMoney, type Tone } from '../../../../admin/contract/show-value.ts'
import type { Explanation } from '../outputs.ts'

export interface ExplainStep {
  key: string
  word: string
  tone: Tone
  text: string
  detail: string | null
}

/** What would happen, in the order in which it would: policies, the route, each target, the end. */
export function explainSteps(explanation: Explanation): ExplainStep[] {
  return [...policySteps(explanation), routeStep(explanation), ...targetSteps(explanation), ...endSteps(explanation)]
}

const verdicts: Record<string, string> = { pass: 'passed', deny: 'denied', flag: 'flagged' }

function policySteps({ key, policy_signals }: Explanation): ExplainStep[] {
  if (key === null) return []
  if (policy_signals.length === 0) return [step('policy', 'passed', 'good', `No policy restricts key ${key.name}.`)]
  return policy_signals.map(({ verdict, text }, index) =>
    step(
      `policy-${index}`,
      verdicts[verdict] ?? verdict,
      verdict === 'deny' ? 'bad' : verdict === 'flag' ? 'warning' : 'good',
      text,
    ),
  )
}

function routeStep({ route, model, project, environment, lane }: Explanation): ExplainStep {
  if (route === null) return step('route', 'no route', 'bad', `No route for ${model} in ${project}/${environment}.`)
  const own =
    route.environment === null ? `all environments of ${route.project}` : `${route.project}/${route.environment}`
  return step(
    'route',
    'matched',
    'good',
    `${model} matches route ${route.model} in ${own}.`,
    `Strategy: ${route.strategy}. Lane: ${lane}.`,
  )
}

function targetSteps({ taken, skipped }: Explanation): ExplainStep[] {
  return [
    ...taken.map(({ provider, upstream_model, reason, estimate_usd, latency_ms }, index) =>
      step(
        `taken-${index}`,
        `${index + 1}`,
        'good',
        `${index === 0 ? 'Try' : 'Then'} ${provider} with ${upstream_model}.`,
        [reason, ...figures(estimate_usd, latency_ms)].filter((text) => text !== '').join(', '),
      ),
    ),
    ...skipped.map(({ provider, upstream_model, reason }, index) =>
      step(`skipped-${index}`, 'skipped', 'warning', `Skip ${provider} with ${upstream_model}.`, reason),
    ),
  ]
}

function figures(usd: number | null, ms: number | null): string[] {
  const cost = usd === null ? [] : [`about ${formatMoney(usd)}`]
  return ms === null ? cost : [...cost, formatMilliseconds(ms)]
}

function endSteps({ error, note }: Explanation): ExplainStep[] {
  const end =
    error === null
      ? step('end', 'sent', 'good', 'The request would be sent.')
      : step('end', error.code, 'bad', `The client would receive: ${error.message}`)
  return note === null ? [end] : [end, step('note', 'note', 'strong', note)]
}

function step(key: string, word: string, tone: Tone, text: string, detail: string | null = null): ExplainStep {
  return { key, word, tone, text, detail: detail === '' ? null : detail }
}
