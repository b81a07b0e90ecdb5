import { bodyParts } from '../../core/capture.ts'

const beginning = /^\{"kind":"body","id":"([\w-]+)"/

/** Of the head of an entry that the gateway wrote: the body is large, and parsed only where it is stored. */
export function bodyEntryId(head: string): string | null {
  return beginning.exec(head)?.[1] ?? null
}

const types = { id: 'string', key: 'string', sealed: 'string', truncated: 'boolean', masked: 'boolean' }

/** Whether that is a body's entry as the gateway writes it. */
export function isBodyEntry(entry: object): boolean {
  const { part, mode, type, bytes, until = 0 } = entry as Record<string, unknown>
  return (
    Object.entries(types).every(([name, wanted]) => typeof Reflect.get(entry, name) === wanted) &&
    bodyParts.some((one) => one === part) &&
    (mode === 'redacted' || mode === 'full') &&
    (type === null || typeof type === 'string') &&
    Number.isSafeInteger(bytes) &&
    Number.isSafeInteger(until)
  )
}
