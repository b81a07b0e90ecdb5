import type { Signal } from '../core/record.ts'
import { flatText } from '../core/text/flat-text.ts'
import type { SnapshotRoute } from '../store/configuration/snapshot.ts'
import type { Candidate } from './candidates.ts'
import type { HealthTarget } from './health.ts'
import type { Plan } from './plan.ts'
import { rowId } from './row-table.ts'

/** Conversations that are remembered at once; of more, those that end soonest are forgotten. */
const entries = 65_536
/** An entry may lie in any of so many rows, those of its set. */
const ways = 8
const sets = entries / ways
/** An id, and where and until when. */
const rowWords = 2

/** Where a conversation is: its prompt stands in the cache of that account for that model. */
export interface AffinityPlace {
  slot: number
  model: string
  /** Place of the credential in the provider's pool. */
  credential: number
}

/** Of all threads; 1 MiB, of which pages that nobody has touched cost nothing. */
export function createAffinityMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(entries * rowWords * BigUint64Array.BYTES_PER_ELEMENT)
}

/** What identifies a conversation, within the project and the route that it is on. */
export function affinityKey(projectId: string, routeId: string, conversation: string): bigint {
  return rowId(0, `${projectId} ${routeId} ${conversation}`)
}

/** null: nothing is remembered, or not any more. `now`: epoch milliseconds. */
function findAffinity(words: BigUint64Array, key: bigint, now: number): PackedPlace | null {
  for (let way = 0; way < ways; way++) {
    const place = placeOf(key, way)
    if (Atomics.load(words, place) !== key) continue
    const packed = Atomics.load(words, place + 1)
    // In between, another thread may have taken the row for another conversation.
    if (Atomics.load(words, place) !== key) continue
    const found = unpack(packed)
    return found.until > now ? found : null
  }
  return null
}

/** From now on the conversation is there. Without a lock: two that take one row at once may cost one of them its entry. */
export function keepAffinity(words: BigUint64Array, key: bigint, at: AffinityPlace, until: number, now: number): void {
  const place = findRoom(words, key, now)
  if (Atomics.load(words, place) !== key) {
    Atomics.store(words, place + 1, 0n)
    Atomics.store(words, place, key)
  }
  Atomics.store(words, place + 1, pack(at, until))
}

/** Its own row, a free one, or the one whose entry ends first. */
function findRoom(words: BigUint64Array, key: bigint, now: number): number {
  let soonest = placeOf(key, 0)
  let soonestEnd = Number.POSITIVE_INFINITY
  for (let way = 0; way < ways; way++) {
    const place = placeOf(key, way)
    const id = Atomics.load(words, place)
    if (id === key) return place
    const end = id === 0n ? 0 : unpack(Atomics.load(words, place + 1)).until
    if (end < soonestEnd) {
      soonest = place
      soonestEnd = end <= now ? 0 : end
    }
  }
  return soonest
}

function placeOf(key: bigint, way: number): number {
  return ((Number(key & 0xffff_ffffn) % sets) * ways + way) * rowWords
}

/** A place as a row holds it: of the model only a hash, which tells the targets of one route apart. */
export interface PackedPlace {
  slot: number
  credential: number
  modelHash: number
  /** Epoch milliseconds, in whole seconds. */
  until: number
}

const slotBits = 12n
const credentialBits = 8n
const hashBits = 12n

function pack({ slot, model, credential }: AffinityPlace, until: number): bigint {
  let packed = BigInt(Math.ceil(until / 1000))
  packed = (packed << hashBits) | BigInt(hashModel(model))
  packed = (packed << credentialBits) | BigInt(credential & 0xff)
  return (packed << slotBits) | BigInt(slot & 0xfff)
}

function unpack(packed: bigint): PackedPlace {
  const take = (bits: bigint, from: bigint) => Number((packed >> from) & ((1n << bits) - 1n))
  return {
    slot: take(slotBits, 0n),
    credential: take(credentialBits, slotBits),
    modelHash: take(hashBits, slotBits + credentialBits),
    until: Number(packed >> (slotBits + credentialBits + hashBits)) * 1000,
  }
}

function hashModel(model: string): number {
  return Number(rowId(1, model) & 0xfffn)
}

/** What tells a conversation from others, as its calls show it. */
export interface ConversationKeys {
  /** By the last signature that it holds. */
  signed: bigint | null
  /** By how its prompt begins, where the route is sticky. */
  cached: bigint | null
}

export function conversationKeys(
  projectId: string,
  { id, sticky }: Pick<SnapshotRoute, 'id' | 'sticky'>,
  { start, signature }: { start: string | null; signature: string | null },
): ConversationKeys {
  return {
    signed: signature === null ? null : affinityKey(projectId, id, signature),
    cached: start === null || !sticky ? null : affinityKey(projectId, id, start),
  }
}

/** Where the call's conversation has been; null: nobody knows. */
export function recall(words: BigUint64Array, { signed, cached }: ConversationKeys, now: number): Remembered | null {
  const bySignature = signed === null ? null : findAffinity(words, signed, now)
  if (bySignature !== null) return { place: bySignature, why: 'signed' }
  const byPrompt = cached === null ? null : findAffinity(words, cached, now)
  return byPrompt === null ? null : { place: byPrompt, why: 'cached' }
}

/** What is remembered of a call: where its prompt is cached, or where its reasoning was signed, which goes first. */
export interface Remembered {
  place: PackedPlace
  why: 'cached' | 'signed'
}

/**
 * The plan with the remembered target first. It never beats health: a target that is skipped stays skipped, one that is the last resort
 * stays that, and so does the order where its credential cannot be used.
 */
export function stayAt(
  plan: Plan,
  { place, why }: Remembered,
  isUsable: (target: HealthTarget, credential: number) => boolean,
): Plan {
  if (plan.fault !== null) return plan
  const found = plan.candidates.find(
    ({ watched, upstreamModel }) => watched.slot === place.slot && hashModel(upstreamModel) === place.modelHash,
  )
  if (found === undefined || found.lastResort || found.credentialId !== undefined) return plan
  if (place.credential >= Math.max(1, found.provider.credentials.length)) return plan
  if (!isUsable(found.watched, place.credential)) return plan
  const kept = { ...found, preferredCredential: place.credential }
  const others = plan.candidates.filter((candidate) => candidate !== found)
  return { ...plan, candidates: [kept, ...others], signals: [...plan.signals, affinitySignal(kept, why)] }
}

function affinitySignal({ provider, upstreamModel }: Candidate, why: Remembered['why']): Signal {
  const reason = why === 'signed' ? 'its reasoning was signed there' : 'its prompt is in the cache there'
  return {
    rule: 'affinity',
    verdict: 'taken',
    text: flatText('The conversation stays with ', provider.name, ' (', upstreamModel, '): ', reason, '.'),
    data: { provider: provider.name, upstream_model: upstreamModel, why },
  }
}
