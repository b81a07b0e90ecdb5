import { readTime } from '../records/record-head.ts'

/** Whether that is an entry of a batch's usage as the gateway writes it. */
export function isBatchUsageEntry(entry: object): boolean {
  const texts = ['requestId', 'batchId', 'lane'].every((name) => typeof Reflect.get(entry, name) === 'string')
  const type: unknown = Reflect.get(entry, 'type')
  if (type !== undefined && typeof type !== 'string') return false
  if (!texts || readTime(Reflect.get(entry, 'time')) === null) return false
  const owner: unknown = Reflect.get(entry, 'owner')
  const sums: unknown = Reflect.get(entry, 'sums')
  return isOwner(owner) && Array.isArray(sums) && sums.every((sum) => isSum(sum))
}

/** The same of what a batch holds. */
export function isBatchHeldEntry(entry: object): boolean {
  const texts = ['requestId', 'batchId', 'lane'].every((name) => typeof Reflect.get(entry, name) === 'string')
  if (!texts || readTime(Reflect.get(entry, 'time')) === null) return false
  const tokens: unknown = Reflect.get(entry, 'tokens')
  const hold: unknown = Reflect.get(entry, 'hold')
  return isOwner(Reflect.get(entry, 'owner')) && Array.isArray(hold) && typeof tokens === 'object' && tokens !== null
}

function isOwner(owner: unknown): boolean {
  if (typeof owner !== 'object' || owner === null) return false
  return ['projectId', 'environmentId', 'providerId'].every((name) => typeof Reflect.get(owner, name) === 'string')
}

function isSum(sum: unknown): boolean {
  if (typeof sum !== 'object' || sum === null) return false
  return typeof Reflect.get(sum, 'id') === 'string' && typeof Reflect.get(sum, 'tokens') === 'object'
}
