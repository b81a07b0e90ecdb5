import { readTime } from '../records/record-head.ts'

/** Whether that is an entry of a batch's usage as the gateway writes it. */
export function isBatchUsageEntry(entry: object): boolean {
  const texts = ['requestId', 'batchId', 'lane'].every((name) => typeof Reflect.get(entry, name) === 'string')
  if (!isType(Reflect.get(entry, 'type')) || !isCounters(Reflect.get(entry, 'counters'))) return false
  if (!texts || readTime(Reflect.get(entry, 'time')) === null) return false
  const owner: unknown = Reflect.get(entry, 'owner')
  const sums: unknown = Reflect.get(entry, 'sums')
  return isOwner(owner) && Array.isArray(sums) && sums.every((sum) => isSum(sum))
}

/** The same of what a batch holds. */
export function isBatchHeldEntry(entry: object): boolean {
  const texts = ['requestId', 'batchId', 'lane'].every((name) => typeof Reflect.get(entry, name) === 'string')
  if (!texts || readTime(Reflect.get(entry, 'time')) === null || !isType(Reflect.get(entry, 'type'))) return false
  const tokens: unknown = Reflect.get(entry, 'tokens')
  const hold: unknown = Reflect.get(entry, 'hold')
  return isOwner(Reflect.get(entry, 'owner')) && Array.isArray(hold) && typeof tokens === 'object' && tokens !== null
}

const isType = (type: unknown) => type === undefined || typeof type === 'string'

function isCounters(counters: unknown): boolean {
  if (counters === undefined) return true
  const isNamed = (pair: unknown) =>
    Array.isArray(pair) && pair.length === 2 && pair.every((name) => typeof name === 'string')
  return Array.isArray(counters) && counters.every(isNamed)
}

function isOwner(owner: unknown): boolean {
  if (typeof owner !== 'object' || owner === null) return false
  return ['projectId', 'environmentId', 'providerId'].every((name) => typeof Reflect.get(owner, name) === 'string')
}

function isSum(sum: unknown): boolean {
  if (typeof sum !== 'object' || sum === null) return false
  return typeof Reflect.get(sum, 'id') === 'string' && typeof Reflect.get(sum, 'tokens') === 'object'
}
