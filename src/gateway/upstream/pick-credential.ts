import type { Candidate } from '../../routing/plan.ts'
import type { Call } from '../request/call.ts'
import type { LiveProvider } from '../thread/read-model.ts'
import type { LegTarget } from './leg.ts'

/** A credential of a target that this request has been sent with. */
export interface Tried {
  candidate: Candidate
  index: number
}

const noneTried: readonly number[] = []

export function triedAt(tried: readonly Tried[], candidate: Candidate): readonly number[] {
  if (tried.length === 0) return noneTried
  return tried.filter((each) => each.candidate === candidate).map(({ index }) => index)
}

type Picked = Pick<LegTarget, 'credentialIndex' | 'credential'>

export function pickCredential(
  call: Call,
  provider: LiveProvider,
  candidate: Candidate,
  tried: readonly number[],
): Picked | null {
  const index = pickIndex(call, provider, candidate, tried)
  if (index === null) return null
  return { credentialIndex: index, credential: call.clientSecret?.secret ?? provider.credentials[index] ?? null }
}

function pickIndex(
  { gateway, trace }: Call,
  provider: LiveProvider,
  { credentialId, watched, preferredCredential: preferred }: Candidate,
  tried: readonly number[],
): number | null {
  const { slot, credentials } = provider.row
  const count = provider.credentials.length
  if (count === 0) return 0
  if (preferred !== undefined && !tried.includes(preferred) && gateway.health.isUsable(watched, preferred, Date.now()))
    return preferred
  if (credentialId === undefined) return gateway.health.pickCredential(slot, count, Date.now(), watched, tried)
  const index = credentials.findIndex(({ id }) => id === credentialId)
  // A retry has already waited for the cooldown that the attempt before it caused.
  const first = trace.attempts.length === 0
  return index < 0 || (first && gateway.health.isCoolingDown(slot, index, Date.now())) ? null : index
}
