import type { Fault } from '../../core/errors.ts'
import { slicedBytes } from '../../core/json/known-spans.ts'
import { loadOnce } from '../../core/threads/load-once.ts'
import { nextTurn } from '../../core/threads/slices.ts'
import type { SnapshotRoute } from '../../store/configuration/snapshot.ts'
import type { Call } from '../request/call.ts'
import { credentialIdOf, type LegTarget, type LegTranslation } from './leg.ts'

const translation = loadOnce(() => import('../translation/call-translation.ts'))
const embedding = loadOnce(() => import('../translation/embedding-leg.ts'))
const replaying = loadOnce(() => import('../translation/replayed-carriers.ts'))

/**
 * The request for a provider of another format. Null: it is sent as it came, or only without reasoning that this gateway had sealed. A
 * fault: it cannot be translated. The translation code is loaded with the first such call.
 */
export async function translateFor(
  call: Call,
  route: SnapshotRoute | null,
  { candidate, provider, credentialIndex }: Pick<LegTarget, 'candidate' | 'provider' | 'credentialIndex'>,
): Promise<LegTranslation | Fault | null> {
  const { translated } = candidate
  if (translated === null) {
    if (call.replayed === null) await findReplayed(call)
    return null
  }
  if (translated.embeds === true)
    return (await embedding()).EmbeddingLeg.write(call, translated, candidate.upstreamModel, route)
  const { CallTranslation } = await translation()
  // Reading a large body takes a turn of the event loop for itself, and so does writing it.
  const isLarge = call.body.bytes.length >= slicedBytes
  if (call.translation === null && isLarge) await nextTurn()
  // A request is read once, whatever the number of its attempts.
  const opened = call.translation instanceof CallTranslation ? call.translation : CallTranslation.open(call)
  if ('code' in opened) return opened
  call.translation = opened
  if (isLarge) await nextTurn()
  const credentialId = credentialIdOf({ provider, credentialIndex })
  return opened.writeFor(translated, { provider, candidate, credentialId, route })
}

async function findReplayed(call: Call): Promise<void> {
  const { ReplayedCarriers } = await replaying()
  call.replayed = ReplayedCarriers.find(call.lane.name, call.body.bytes)
}
