import type { Fault } from '../../../core/errors.ts'
import { type Limit, limitAt } from '../../../core/policies/policy-limits.ts'
import type { Signal } from '../../../core/record.ts'
import type { EffectivePolicy } from '../../../policy/effective.ts'
import { type LongestAnswer, type RefusalFacts, refusedByBudget } from '../../../policy/limits/budget-faults.ts'
import { dearestOf, type Expected, needOf, noPrice, unboundedAnswer } from '../../../policy/limits/expected-use.ts'
import { refusedByLimit, withinLimits } from '../../../policy/limits/limit-faults.ts'
import {
  anyLength,
  type BudgetState,
  cappedToRoom,
  capUnknown,
  findSpent,
  longestAnswer,
  roomToCap,
} from '../../../policy/limits/room-to-cap.ts'
import type { Candidate } from '../../../routing/plan.ts'
import type { AdminContext } from '../context.ts'
import {
  type CountedCall,
  expectLength,
  findBudgetRefusal,
  findMinuteRefusal,
  namesAt,
  priceAt,
  tokensOf,
  toolsOf,
} from './count-request.ts'

type Context = Pick<AdminContext, 'runtime' | 'kinds'>

interface LimitVerdict {
  fault: Fault | null
  signals: Signal[]
}

const nothing: LimitVerdict = { fault: null, signals: [] }

/** What the limits a minute and at once of a key would say to the request now. */
export function explainLimits(
  context: Context,
  { limits }: Pick<EffectivePolicy, 'limits'>,
  asked: CountedCall,
): LimitVerdict {
  if (limits === null) return nothing
  const taken: { limit: Limit; left: number }[] = []
  for (const limit of limits) {
    if (limit.period !== null || (limit.perUser && asked.user === null)) continue
    const refusal = findMinuteRefusal(context, limit, asked)
    if (refusal !== null) {
      const { fault, signal } = refusedByLimit(refusal)
      return { fault, signals: [signal] }
    }
    const amount = limit.kind === 'tokens' ? tokensOf(asked) : 1
    taken.push({ limit, left: limit.limit - context.runtime.limitUsage(limit, null, asked.user).used - amount })
  }
  return { fault: null, signals: [withinLimits({ taken })] }
}

/**
 * What its budgets would say, once a first target is chosen. `room`: an answer of so many tokens is what the request would get; null: as
 * many as it asks for.
 */
export function explainBudgets(
  context: Context,
  policy: Pick<EffectivePolicy, 'limits'> | null,
  first: Candidate | undefined,
  asked: CountedCall,
): LimitVerdict & { room: number | null } {
  const budgets =
    policy?.limits?.filter(({ period, perUser }) => period !== null && (!perUser || asked.user !== null)) ?? []
  const refusing = budgets.filter(({ warns }) => !warns)
  if (first === undefined || budgets.length === 0) return { ...nothing, room: null }
  let room: number | null = null
  let note: Signal[] = []
  for (let caps = -1; ; caps++) {
    const call = room === null ? asked : { ...asked, room }
    const expected = expect(context, first, call, refusing)
    const unknown = expected === endless ? capUnknown(budgets, asked.answers) : null
    if (unknown !== null) {
      room = unknown.most
      note = [cappedToRoom(unknown.limit, asked.outputLimit, room)]
      continue
    }
    const spent = expected === endless ? spentFor(context, first, asked, refusing) : null
    if (spent !== null) {
      const { fault, signal } = refusedByBudget(spent, null)
      return { fault, signals: [...note, signal], room: null }
    }
    if ('code' in expected) {
      const fault = expected === endless ? unboundedAnswer(longest(context, first, asked, refusing)) : expected
      return { fault, signals: [...note, denied(fault)], room: null }
    }
    const refusal = findBudgetRefusal(context, refusing, expected, asked)
    if (refusal === null) return { fault: null, signals: note, room }
    const most = caps === budgets.length || asked.text === null ? null : roomToCap(refusal, expected, asked.answers)
    if (most === null) {
      const { fault, signal } = refusedByBudget(refusal, longest(context, first, asked, refusing))
      return { fault, signals: [...note, signal], room: null }
    }
    room = most
    note = [cappedToRoom(refusal.limit, asked.outputLimit, most)]
  }
}

/** As the data plane expects it of a call that asks a model: of those that may answer, the dearest. */
function expect(context: Context, first: Candidate, asked: CountedCall, refusing: readonly Limit[]): Expected | Fault {
  return dearestOf(expectEach(context, first, asked, refusing))
}

function expectEach(context: Context, first: Candidate, asked: CountedCall, refusing: readonly Limit[]) {
  const models = namesAt(first, asked)
  return models.map((upstreamModel) => expectModel(context, { ...first, upstreamModel }, asked, refusing))
}

/** How long the budgets would let its answer be. */
function longest(
  context: Context,
  first: Candidate,
  asked: CountedCall,
  refusing: readonly Limit[],
): LongestAnswer | null {
  const budgets = budgetsNow(context, refusing, asked)
  return longestOf(context, first, asked, {
    budgets,
    expected: expectEach(context, first, { ...asked, room: anyLength }, refusing),
  })
}

/** `expected`: with answers of any length. */
export function longestOf(
  { kinds }: Pick<Context, 'kinds'>,
  { provider }: Pick<Candidate, 'provider'>,
  { limitedBy, outputLimit, answers }: CountedCall,
  { budgets, expected }: { budgets: readonly BudgetState[]; expected: readonly (Expected | Fault)[] },
): LongestAnswer | null {
  if (limitedBy === null) return null
  const known = kinds.find(({ kind }) => kind === provider.kind)?.outputLimit
  const name = outputLimit === null && limitedBy === 'max_completion_tokens' ? (known ?? limitedBy) : limitedBy
  const counted = expected.flatMap((one) => ('code' in one ? [] : one))
  return { name, most: longestAnswer(budgets, counted, { answers, adds: outputLimit === null ? name : null }) }
}

/** A budget that an answer of a token does not fit into either. */
function spentFor(
  context: Context,
  first: Candidate,
  asked: CountedCall,
  refusing: readonly Limit[],
): RefusalFacts | null {
  const shortest = expect(context, first, { ...asked, room: asked.answers }, refusing)
  return 'code' in shortest ? null : findSpent(budgetsNow(context, refusing, asked), needOf(shortest, shortest.output))
}

export function budgetsNow(
  { runtime }: Pick<Context, 'runtime'>,
  refusing: readonly Limit[],
  { user, now }: Pick<CountedCall, 'user' | 'now'>,
) {
  return refusing.map((limit) => ({ limit, most: limitAt(limit, now), use: runtime.limitUsage(limit, null, user) }))
}

function expectModel(
  context: Context,
  first: Candidate,
  asked: CountedCall,
  refusing: readonly Limit[],
): Expected | Fault {
  const { price, isFree } = priceAt(context, first, asked)
  const counts = (kind: Limit['kind']) => refusing.some((limit) => limit.kind === kind)
  const isUnpriced = asked.usesTokens && !isFree && price === null && asked.policy?.unpriced == null
  if (isUnpriced && counts('usd')) return noPrice(first.upstreamModel)
  const isUncounted = refusing.length === 0 || (price === null && !counts('tokens'))
  const answer = expectLength(asked, price, isFree || isUncounted)
  if (answer === null) return endless
  return { price, input: asked.input, ...answer, beside: toolsOf(context, first, asked, price) }
}

const endless = Object.freeze(unboundedAnswer())

const denied = ({ message }: Fault): Signal => ({ rule: 'budget', verdict: 'deny', text: message })
