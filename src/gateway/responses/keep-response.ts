import { asObject, type JsonObject } from '../../core/json/json-value.ts'
import type { SnapshotRoute } from '../../store/configuration/snapshot.ts'
import type { KeptState } from '../../translate/codec.ts'
import type { Conversation } from '../../translate/conversation.ts'
import { type DocumentPiece, joinPieces, parseLossless, writePieces } from '../../translate/json.ts'
import type { Call } from '../request/call.ts'
import { readItems } from './items.ts'
import { type KeptResponse, KeptResponses, namedBefore } from './kept-responses.ts'

/** Whether the answer to a translated call is kept: the route says so, and the client has not set `store: false`. */
export function isKept({ match, content }: Call, route: SnapshotRoute | null, { settings }: Conversation): boolean {
  const asks = match.endpoint.format === 'responses' && settings.store !== false
  // Content rules change what the client gets, but not what would be kept.
  return asks && (route?.keepResponsesMs ?? null) !== null && content?.readsAnswer !== true
}

/** Keeps an answer with its request. `pieces`: long texts that were cut out of the answer. */
export function openKeeping(
  call: Call,
  lifeMs: number,
  asked: { input: unknown; pieces: readonly DocumentPiece[] },
  pieces: readonly DocumentPiece[],
): KeptState {
  const { kept, key, id, gateway, arrival } = call
  return {
    previous: kept?.previous ?? null,
    take(response) {
      const store = new KeptResponses(gateway)
      const expiresAt = arrival.receivedAt + lifeMs
      const entry = {
        response: whole(response, pieces),
        before: namedBefore(kept?.ids ?? []),
        input: readItems(whole({ input: asked.input }, asked.pieces).input).slice(kept?.items ?? 0),
      }
      if (!store.keep(id, key, entry, expiresAt)) {
        call.trace.note('stored', 'The response was not kept: together with its request it is longer than 900 KB.')
        return false
      }
      renew(store, call, lifeMs)
      return true
    },
  }
}

/**
 * A conversation that continues keeps its beginning: responses with less than half of their lifetime left are kept for a full one again.
 */
function renew(store: KeptResponses, { kept, key, id, arrival }: Call, lifeMs: number): void {
  for (const { id: named, expiresAt, response, before, input } of kept?.used ?? []) {
    if (expiresAt - arrival.receivedAt >= lifeMs / 2) continue
    const place = kept?.ids.indexOf(named) ?? -1
    const earlier = place < 0 ? before : namedBefore(kept?.ids.slice(0, place) ?? [])
    const entry: KeptResponse = { response, before: earlier, input }
    store.keep(id, key, entry, arrival.receivedAt + lifeMs)
  }
}

/** The value with its long texts put back. */
function whole(value: JsonObject, pieces: readonly DocumentPiece[]): JsonObject {
  if (pieces.length === 0) return value
  return asObject(parseLossless(joinPieces(writePieces(value, pieces)))) ?? value
}
