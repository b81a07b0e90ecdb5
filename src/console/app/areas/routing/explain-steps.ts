import { describeEstimate, describeExpected } from '../../../../admin/contract/show-estimate.ts'
import { formatMoney, groupDigits, type Tone } from '../../../../admin/contract/show-value.ts'
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
  return [
    fromStep(explanation),
    ...pastSteps(explanation),
    ...policySteps(explanation),
    ...leftSteps(explanation),
    routeStep(explanation),
    ...targetSteps(explanation),
    ...optionSteps(explanation),
    ...endSteps(explanation),
  ]
}

/** Most surprises are a key that is elsewhere than the route. */
function fromStep({ key, project, environment }: Explanation): ExplainStep {
  return key === null
    ? step('from', 'no key', 'strong', `Asked from ${project}/${environment}.`, 'Policies of keys are not checked.')
    : step('from', 'key', 'strong', `Key ${key.name} is in ${key.project}/${key.environment}.`)
}

/** Of a past request only its record is known. */
function pastSteps({ request }: Explanation): ExplainStep[] {
  if (request === null) return []
  const { id, provider, upstream_model, bytes } = request
  const sent = provider === null ? 'was sent nowhere' : `was sent to ${provider}/${upstream_model ?? ''}`
  return [step('past', 'past', 'strong', `Request ${id} ${sent}.`, describeEstimate(bytes))]
}

const verdicts: Record<string, string> = { pass: 'passed', deny: 'denied', flag: 'flagged' }

function policySteps({ key, policy_signals, limits, periods }: Explanation): ExplainStep[] {
  if (key === null) return []
  const isLimited = limits.length + periods.length > 0
  if (policy_signals.length === 0)
    return [
      step(
        'policy',
        'passed',
        'good',
        isLimited ? `Policies limit only how much key ${key.name} may use.` : `No policy restricts key ${key.name}.`,
      ),
    ]
  return policy_signals.map(({ verdict, text }, index) =>
    step(
      `policy-${index}`,
      verdicts[verdict] ?? verdict,
      verdict === 'deny' ? 'bad' : verdict === 'flag' ? 'warning' : 'good',
      text,
    ),
  )
}

/** What is left of the key's limits and budgets. */
function leftSteps({ limits, periods }: Explanation): ExplainStep[] {
  const windows = limits.map(({ kind, left, limit, policy }) =>
    leftStep(policy, left, limit, kind === 'concurrency' ? 'requests at once' : `${kind} a minute`, groupDigits),
  )
  const budgets = periods.map(({ kind, period, left, limit, policy }) =>
    leftStep(
      policy,
      left,
      limit,
      kind === 'usd' ? `a ${period}` : `tokens a ${period}`,
      kind === 'usd' ? formatMoney : groupDigits,
    ),
  )
  return [...windows, ...budgets].map((each, index) => ({ ...each, key: `left-${index}` }))
}

function leftStep(
  policy: string,
  left: number | null,
  limit: number,
  unit: string,
  write: (value: number) => string,
): ExplainStep {
  const text =
    left === null ? `Each end user has ${write(limit)} ${unit}.` : `${write(left)} of ${write(limit)} ${unit} left.`
  return step('left', left === 0 ? 'used up' : 'left', left === 0 ? 'bad' : 'good', text, `Policy: ${policy}.`)
}

/** What else would happen to it on its route. */
function optionSteps({ route, routing_signals, error }: Explanation): ExplainStep[] {
  if (route === null || error !== null) return []
  const { hedge, shadow } = route
  const stays = routing_signals
    .filter(({ rule }) => rule === 'affinity')
    .map(({ text }) => step('stays', 'stays', 'good', text))
  const hedged =
    hedge === null
      ? []
      : [
          step(
            'hedge',
            'hedge',
            'strong',
            `After ${hedge.after} of silence, ask a second target.`,
            `At most ${hedge.share}% of requests.`,
          ),
        ]
  const copied =
    shadow === null ? [] : [step('shadow', 'copy', 'strong', `Once answered, send it to ${shadow} as well.`)]
  return [...stays, ...hedged, ...copied]
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
    ...taken.map((target, index) =>
      step(
        `taken-${index}`,
        `${index + 1}`,
        'good',
        `${index === 0 ? 'Try' : 'Then'} ${target.provider} with ${target.upstream_model}.`,
        describeExpected(target),
      ),
    ),
    ...skipped.map(({ provider, upstream_model, reason }, index) =>
      step(`skipped-${index}`, 'skipped', 'warning', `Skip ${provider} with ${upstream_model}.`, reason),
    ),
  ]
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
