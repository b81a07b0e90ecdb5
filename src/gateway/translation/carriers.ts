import { asArray, parseJson } from '../../core/json/json-value.ts'
import { isSealed, sealedPrefix } from '../../core/secrets/sealed-mark.ts'
import type { Carriers } from '../../translate/codec.ts'
import type { Opaque } from '../../translate/conversation.ts'
import type { Call } from '../request/call.ts'
import { readOpaque } from './opaque-form.ts'

/** Longer than any conversation with tools continues. */
const lifeMs = 30 * 24 * 60 * 60_000
/** What a vendor signs is a few KB. More than this would not fit where clients keep it. */
const longest = 256 * 1024

/**
 * Seals reasoning for its way through a client; only the same project can open it. `providerId`: the provider whose answers are sealed;
 * null: nothing is sealed.
 */
export function openCarriers({ key, gateway, arrival }: Call, providerId: string | null): Carriers {
  const { projectId } = key
  const { tokens } = gateway.model.configuration
  const now = arrival.receivedAt
  return {
    seal(opaque) {
      const payload = JSON.stringify([projectId, { ...opaque, provider: providerId }])
      return payload.length > longest ? null : sealedPrefix + tokens.seal('reasoning', payload, now + lifeMs)
    },
    open(text) {
      if (!isSealed(text) || text.length > 2 * longest) return null
      const opened = tokens.open('reasoning', text.slice(sealedPrefix.length), now)
      return opened.state === 'open' ? readPayload(opened.payload, projectId) : null
    },
  }
}

function readPayload(payload: string, projectId: string): Opaque | null {
  const [project, opaque] = asArray(parseJson(Buffer.from(payload)))
  return project === projectId ? readOpaque(opaque) : null
}
