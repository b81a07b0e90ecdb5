import type { Fault } from '../../core/errors.ts'
import type { SnapshotRoute } from '../../store/configuration/snapshot.ts'
import type { Call } from '../request/call.ts'
import type { CallTranslation } from '../translation/call-translation.ts'
import { credentialIdOf } from './evaluate.ts'
import type { LegTarget, LegTranslation } from './leg.ts'

/** A request is read once, whatever the number of its attempts. */
const opened = new WeakMap<Call, Promise<CallTranslation | Fault>>()

/** The request for a provider of another format. Loads what translates with the first such call. A fault: it cannot be written. */
export async function translateFor(
  call: Call,
  route: SnapshotRoute | null,
  { candidate, provider, credentialIndex }: Pick<LegTarget, 'candidate' | 'provider' | 'credentialIndex'>,
): Promise<LegTranslation | Fault | null> {
  const { translated } = candidate
  if (translated === null) return null
  const translation = await openFor(call)
  if ('code' in translation) return translation
  const credentialId = credentialIdOf({ provider, credentialIndex })
  return translation.writeFor(translated, { provider, candidate, credentialId, route })
}

function openFor(call: Call): Promise<CallTranslation | Fault> {
  const known = opened.get(call)
  if (known !== undefined) return known
  const opening = import('../translation/call-translation.ts').then(({ CallTranslation }) => CallTranslation.open(call))
  opened.set(call, opening)
  return opening
}
