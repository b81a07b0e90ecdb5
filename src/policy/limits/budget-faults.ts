import { usdOfNano, writeUsd } from '../../core/cost/money.ts'
import { type Fault, fault } from '../../core/errors.ts'
import type { Limit } from '../../core/policies/policy-limits.ts'
import type { Signal } from '../../core/record.ts'
import { isoTime } from '../../core/text/flat-text.ts'
import type { BudgetRefusal } from './budget-counters.ts'
import { nameForClient, whoShares } from './limit-faults.ts'

/** The client's member that limits an answer, and the longest answer that would fit; null: none. */
export interface LongestAnswer {
  name: string
  most: number | null
}

/** Only the end of the period is shown. */
export type RefusalFacts = Omit<BudgetRefusal, 'period' | 'want'> & { period: Pick<BudgetRefusal['period'], 'end'> }

/**
 * A spent budget says when its next period begins, and that retrying does not help. If running requests or other nodes hold the rest, or
 * this node was not given enough, it says so, and a retry may help. `longest` null: a shorter answer would not help.
 */
export function refusedByBudget(
  refusal: RefusalFacts,
  longest: LongestAnswer | null,
): { fault: Fault; signal: Signal } {
  const { limit, period, need, most, use, why } = refusal
  const resetsAt = isoTime(period.end)
  const reason = explain(refusal, longest)
  const text = `${describe(limit, most, limit.scope)} ${reason}`
  const message = `${describe(limit, most, nameForClient(limit.scope))} ${reason}`
  const data = {
    policy: limit.policy,
    scope: limit.scope,
    kind: limit.kind,
    period: limit.period,
    limit: shown(limit, most),
    used: shown(limit, use.used),
    held: shown(limit, use.held),
    asked: shown(limit, Number(need)),
    resets_at: resetsAt,
  }
  const signal = { rule: 'budget', verdict: 'deny', text, data } as const
  if (why === 'closed') return { fault: fault('overloaded', message, { retryAfterMs: 1000 }), signal }
  if (why !== 'spent') return { fault: fault('rate_limited', message, { retryAfterMs: 1000 }), signal }
  return { fault: fault('budget_exceeded', message, { resetsAt }), signal }
}

function describe({ policy, scope, kind, period, perUser }: Limit, most: number, named: string): string {
  const amount = kind === 'usd' ? `${writeUsd(dollars(most))} USD` : `${most} tokens`
  if (policy === null) return `The account of ${scope.replace(':', ' ')} may be used for ${amount} a ${period}.`
  return `The policy ${policy} allows ${amount} a ${period} for ${whoShares(perUser, named)}.`
}

function explain({ limit, period, need, most, use, why }: RefusalFacts, longest: LongestAnswer | null): string {
  if (most === 0) return 'So nothing passes; ask the operator.'
  const unit = limit.kind === 'usd' ? 'USD' : 'tokens'
  const written = (amount: number) => (limit.kind === 'usd' ? writeUsd(dollars(amount)) : String(amount))
  const needs = `This request may need ${written(Number(need))} ${unit}`
  switch (why) {
    case 'closed':
      return 'What was used before the gateway started is still being counted; try again in a second.'
    case 'over':
      return `This connection began in a ${limit.period} that is long over: open another one.`
    case 'apart':
    case 'cut off': {
      const [cut, next] =
        why === 'apart' ? ['', ' in a second'] : ['is cut off from the others and ', ', another node may answer']
      return `${needs}. The nodes of the cluster share this budget, and this one ${cut}was not given enough of what is left; try again${next}.`
    }
    case 'held':
      if (use.holders === 0) return `${needs}, and other nodes of the cluster hold what is left; try again in a second.`
      if ((use.shared?.elsewhere ?? 0) > 0)
        return `${needs}, and ${running(use)} here and other nodes of the cluster hold what is left; try again in a second.`
      return `${needs}, and ${running(use)} ${use.holders === 1 ? 'holds' : 'hold'} what is left; try again when one has ended.`
    case 'spent': {
      const smaller = longest?.most == null ? '' : ` Or send it with a ${longest.name} of at most ${longest.most}.`
      return `${needs}, and ${written(use.used)} are used. It resets at ${isoTime(period.end)}.${smaller}`
    }
  }
}

const running = ({ holders }: RefusalFacts['use']) => `${holders} running ${holders === 1 ? 'request' : 'requests'}`
const shown = (limit: Limit, amount: number) => (limit.kind === 'usd' ? dollars(amount) : amount)
const dollars = (nano: number): number => usdOfNano(BigInt(Math.round(nano)))
