import { bodyParts } from '../../core/capture.ts'

const beginning = /^\{"kind":"body","id":"([\w-]+)"/

/** Of the head of an entry that the gateway wrote: the body is large, and parsed only where it is stored. */
export function bodyEntryId(head: string): string | null {
  return beginning.exec(head)?.[1] ?? null
}

/** Whether that is a body's entry as the gateway writes it. */
export function isBodyEntry(entry: object): boolean {
  const has = (name: string, type: string) => typeof Reflect.get(entry, name) === type
  const texts = ['id', 'key', 'sealed'].every((name) => has(name, 'string'))
  const known = bodyParts.some((part) => part === Reflect.get(entry, 'part')) && isMode(Reflect.get(entry, 'mode'))
  const flags = has('truncated', 'boolean') && has('masked', 'boolean')
  const type: unknown = Reflect.get(entry, 'type')
  return (
    texts &&
    known &&
    flags &&
    Number.isSafeInteger(Reflect.get(entry, 'bytes')) &&
    (type === null || has('type', 'string'))
  )
}

function isMode(mode: unknown): boolean {
  return mode === 'redacted' || mode === 'full'
}
