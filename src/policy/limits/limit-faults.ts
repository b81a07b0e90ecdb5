import { type Fault, fault } from '../../core/errors.ts'
import type { Limit } from '../../core/policies/policy-limits.ts'
import type { Signal } from '../../core/record.ts'
import type { LimitRefusal } from './limit-counters.ts'

/** What the client is told about a limit without room, with the actual wait, and what the record says. */
export function refusedByLimit({ limit, amount, used, waitMs, apart }: Omit<LimitRefusal, 'want'>): {
  fault: Fault
  signal: Signal
} {
  const why = explain(limit, amount, { waitMs, apart })
  const text = `${describe(limit, limit.scope)} ${why}`
  const message = `${describe(limit, nameForClient(limit.scope))} ${why}`
  const { policy, scope, kind } = limit
  // The use of nodes that this one cannot reach is unknown.
  const data = {
    policy,
    scope,
    kind,
    limit: limit.limit,
    used: apart === null || apart === 'held' ? used : null,
    asked: amount,
  }
  const retry = waitMs === null ? { shouldRetry: false } : { retryAfterMs: waitMs }
  return { fault: fault('rate_limited', message, retry), signal: { rule: 'limits', verdict: 'deny', text, data } }
}

function describe({ policy, scope, kind, limit, perUser }: Limit, named: string): string {
  const amount =
    kind === 'concurrency' ? `${limit} ${plural('request', limit)} at once` : `${limit} ${unit(kind, limit)} a minute`
  if (policy === null) return `The account of ${scope.replace(':', ' ')} may be used for ${amount}.`
  return `The policy ${policy} allows ${amount} for ${whoShares(perUser, named)}.`
}

/** Who shares the limit. */
export const whoShares = (perUser: boolean, scope: string) => (perUser ? `each end user of ${scope}` : scope)

/** Clients know names, not how scopes are written: `key:support/production/bot` is the key bot. */
export function nameForClient(scope: string): string {
  const [, kind, name] = /^(key|environment|project):(?:[^/]+\/)*([^/]+)$/.exec(scope) ?? []
  if (kind !== undefined) return `the ${kind} ${name}`
  return scope === 'workspace' ? 'the workspace' : scope
}

const aparts = {
  'cut off': 'this one is cut off from the others and has no more of it',
  opening: 'none is given more before all have said what they use',
  closed: 'this one lets nothing pass before it reaches the others again',
  unheard: 'no answer came in time',
}

function explain(
  { kind, limit }: Limit,
  amount: number,
  { waitMs, apart }: Pick<LimitRefusal, 'waitMs' | 'apart'>,
): string {
  if (limit === 0) return 'So nothing passes; ask the operator.'
  if (waitMs === null) return `This request alone needs ${amount}, so waiting does not help: send a smaller one.`
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  // Of this no clock knows when it ends.
  const later = apart === 'closed' ? 'try again later.' : `try again in ${seconds} ${plural('second', seconds)}.`
  if (apart !== null && apart !== 'held')
    return `The nodes of the cluster share this limit, and ${aparts[apart]}; ${later}`
  const held = apart === 'held' ? ', or nodes of the cluster hold the rest' : ''
  if (kind === 'concurrency') return `As many are running${held}; wait for one of them to end, then try again.`
  return `They are used up${held}; ${later}`
}

const unit = (kind: Limit['kind'], count: number) => plural(kind === 'tokens' ? 'token' : 'request', count)
const plural = (word: string, count: number) => (count === 1 ? word : `${word}s`)

const leftNames = {
  concurrency: 'concurrency_left',
  requests: 'requests_left',
  tokens: 'tokens_left',
  usd: 'usd_left',
} as const satisfies Record<Limit['kind'], string>

/** One signal for all limits: it has room for figures, and nobody reads ten sentences. */
export function withinLimits({ taken }: { taken: readonly { limit: Limit; left: number }[] }): Signal {
  const data: NonNullable<Signal['data']> = {}
  for (const { limit, left } of taken) {
    const name = leftNames[limit.kind]
    const before = data[name]
    if (typeof before !== 'number' || left < before) data[name] = left
  }
  return { rule: 'limits', verdict: 'pass', text: 'The request is within its limits a minute and at once.', data }
}
