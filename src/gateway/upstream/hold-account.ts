import type { Plan } from '../../routing/plan.ts'
import type { Call } from '../request/call.ts'

/** Where some account has limits, each attempt takes what it counts there; what the first one will take is held from now on. */
export async function holdAccount(call: Call, { candidates }: Pick<Plan, 'candidates'>): Promise<void> {
  const { AccountHolds } = await import('./account-holds.ts')
  const accounts = new AccountHolds(call)
  call.arrival.accounts = accounts
  const [first] = candidates
  if (first !== undefined) accounts.prepare(first)
}
