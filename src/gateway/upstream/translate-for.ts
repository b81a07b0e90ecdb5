import type { Fault } from '../../core/errors.ts'
import type { SnapshotRoute } from '../../store/configuration/snapshot.ts'
import type { Call } from '../request/call.ts'
import type { CallTranslation } from '../translation/call-translation.ts'
import { credentialIdOf } from './evaluate.ts'
import type { LegTarget, LegTranslation } from './leg.ts'

/** Once it is loaded: to import what is there already costs a turn of the module loader. */
let loaded: typeof CallTranslation | null = null

/**
 * The request for a provider of another format; null: it goes as it came, but for what was sealed in earlier answers. Loads what translates
 * with the first such call. A fault: it cannot be written.
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
  if (translated.embeds === true) {
    const { EmbeddingLeg } = await import('../translation/embedding-leg.ts')
    return EmbeddingLeg.write(call, translated, candidate.upstreamModel, route)
  }
  const translation = await openFor(call)
  if ('code' in translation) return translation
  const credentialId = credentialIdOf({ provider, credentialIndex })
  return translation.writeFor(translated, { provider, candidate, credentialId, route })
}

async function findReplayed(call: Call): Promise<void> {
  const { ReplayedCarriers } = await import('../translation/replayed-carriers.ts')
  call.replayed = ReplayedCarriers.find(call.lane.name, call.body.bytes)
}

/** A request is read once, whatever the number of its attempts. */
async function openFor(call: Call): Promise<CallTranslation | Fault> {
  loaded ??= (await import('../translation/call-translation.ts')).CallTranslation
  if (call.translation instanceof loaded) return call.translation
  const opened = await loaded.open(call)
  if (!('code' in opened)) call.translation = opened
  return opened
}
