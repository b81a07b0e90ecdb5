import { loadOnce } from '../../core/threads/load-once.ts'
import type { Plan } from '../../routing/plan.ts'
import type { Call } from '../request/call.ts'

const accountHolds = loadOnce(() => import('./account-holds.ts'))

/** The longest wait for limits that nodes share, if this node does not have enough yet. */
const longestWaitMs = 1000

/** Prepares the holds on accounts with limits: each attempt takes its part, and the first attempt's part is held from now on. */
export async function holdAccount(call: Call, { candidates }: Pick<Plan, 'candidates'>): Promise<void> {
  const { AccountHolds } = await accountHolds()
  const accounts = new AccountHolds(call)
  call.arrival.accounts = accounts
  if (call.gateway.limits.sharesBudgets) await askAllowances(call, candidates)
  if (call.gateway.limits.sharesWindows) await askWindows(call, candidates)
  const [first] = candidates
  if (first !== undefined) accounts.prepare(first)
}

/** Attempts take from accounts without waiting, so the node asks for more here. */
async function askAllowances({ gateway, arrival }: Call, candidates: Plan['candidates']): Promise<void> {
  const { providers, timeZone } = gateway.model.configuration
  const limits = candidates.flatMap(({ provider }) => providers.get(provider.id)?.limits ?? [])
  await gateway.limits.askAllowances(limits, null, { timeZone, now: arrival.receivedAt })
}

/** The same for limits per minute, for what a request is known to count there. */
async function askWindows({ gateway }: Call, candidates: Plan['candidates']): Promise<void> {
  const { providers } = gateway.model.configuration
  const wants = candidates.flatMap(({ provider }) => {
    const limits = providers.get(provider.id)?.limits ?? null
    return limits === null ? [] : (gateway.limits.findWant(limits, { requests: 1, tokens: 1 }) ?? [])
  })
  await Promise.all(wants.map((want) => gateway.limits.askOthers(want, longestWaitMs)))
}
