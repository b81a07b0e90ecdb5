import { bodyParts } from '../../core/capture.ts'
import type { JournalEntry } from '../../core/journal-format.ts'
import { isObject } from '../../core/json/is-object.ts'
import { readTime } from '../records/record-head.ts'

type EntryFields = Record<string, unknown>

/** Whether that is an entry as the gateway writes it. */
export function isEntry(entry: unknown): entry is JournalEntry {
  if (!isObject(entry)) return false
  switch (entry.kind) {
    case 'admitted':
    case 'settled':
      return hasTexts(entry.record, 'id') && isTime(entry.record.time)
    case 'repeated':
      return hasTexts(entry, 'id') && typeof entry.count === 'number' && isTime(entry.lastTime)
    case 'held':
      return hasTexts(entry, 'id') && Array.isArray(entry.hold)
    case 'objects':
      return hasTexts(entry, 'requestId') && isTime(entry.time) && isOwner(entry.owner) && areObjects(entry)
    case 'body':
      return isBody(entry)
    case 'batch-held':
      return isOfBatch(entry) && Array.isArray(entry.hold) && typeof entry.tokens === 'object' && entry.tokens !== null
    case 'batch-usage':
      return isOfBatch(entry) && areCounters(entry.counters) && areAll(entry.sums, isSum)
    case 'reasoning':
      return hasTexts(entry, 'requestId', 'name', 'sealed') && Number.isSafeInteger(entry.expiresAt)
    default:
      return false
  }
}

function isBody({ part, mode, type, bytes, until = 0, truncated, masked, ...texts }: EntryFields): boolean {
  return (
    hasTexts(texts, 'id', 'key', 'sealed') &&
    typeof truncated === 'boolean' &&
    typeof masked === 'boolean' &&
    bodyParts.some((one) => one === part) &&
    (mode === 'redacted' || mode === 'full') &&
    (type === null || typeof type === 'string') &&
    Number.isSafeInteger(bytes) &&
    Number.isSafeInteger(until)
  )
}

function isOfBatch(entry: EntryFields): boolean {
  const { type = '', time, owner } = entry
  const isNamed = hasTexts(entry, 'requestId', 'batchId', 'lane') && typeof type === 'string' && isTime(time)
  return isNamed && hasTexts(owner, 'projectId', 'environmentId', 'providerId')
}

function isOwner(owner: unknown): boolean {
  if (!hasTexts(owner, 'projectId', 'environmentId', 'keyId', 'providerId')) return false
  return owner.credentialId === null || typeof owner.credentialId === 'string'
}

function areObjects({ made, forgotten }: EntryFields): boolean {
  return [made, forgotten].every((names) => areAll(names, (name) => hasTexts(name, 'type', 'id')))
}

function areCounters(counters: unknown): boolean {
  const isNamed = (pair: unknown) => areAll(pair, (name) => typeof name === 'string') && pair.length === 2
  return counters === undefined || areAll(counters, isNamed)
}

function isSum(sum: unknown): boolean {
  return hasTexts(sum, 'id') && typeof sum.tokens === 'object'
}

function areAll(values: unknown, is: (value: unknown) => boolean): values is unknown[] {
  return Array.isArray(values) && values.every(is)
}

function hasTexts(value: unknown, ...names: string[]): value is EntryFields {
  return isObject(value) && names.every((name) => typeof value[name] === 'string')
}

function isTime(time: unknown): boolean {
  return readTime(time) !== null
}
