import { readTime } from '../records/record-head.ts'

/** Whether that is an entry of objects as the gateway writes it. */
export function isObjectsEntry(entry: object): boolean {
  if (!hasText(entry, 'requestId') || !('time' in entry) || readTime(entry.time) === null) return false
  if (!('owner' in entry) || !isOwner(entry.owner)) return false
  return 'made' in entry && areNames(entry.made) && 'forgotten' in entry && areNames(entry.forgotten)
}

function isOwner(owner: unknown): boolean {
  if (typeof owner !== 'object' || owner === null) return false
  const named = ['projectId', 'environmentId', 'keyId', 'providerId'].every((name) => hasText(owner, name))
  return named && 'credentialId' in owner && (owner.credentialId === null || typeof owner.credentialId === 'string')
}

function areNames(names: unknown): boolean {
  return Array.isArray(names) && names.every((name) => isName(name))
}

function isName(name: unknown): boolean {
  return typeof name === 'object' && name !== null && hasText(name, 'type') && hasText(name, 'id')
}

function hasText(value: object, name: string): boolean {
  return typeof Reflect.get(value, name) === 'string'
}
