import { StoreConflict } from './store-error.ts'

/** Returns the row; throws if it has gone since the caller looked. */
export function present<Row>(row: Row | undefined, kind: string, id: string): Row {
  if (row === undefined) throw new StoreConflict(`${kind} ${id} no longer exists`)
  return row
}

export function refuseTaken(other: { id: string } | undefined, kind: string, name: string, ownId: string): void {
  if (other && other.id !== ownId) throw new StoreConflict(`${kind} ${name} already exists (${other.id})`)
}

/** `users`: what keeps it in use, each as people name it: `route gpt-4o`. */
export function refuseInUse(subject: string, users: readonly string[]): void {
  if (users.length === 0) return
  const shown = users.slice(0, 5).join(', ')
  const more = users.length > 5 ? ` and ${users.length - 5} more` : ''
  throw new StoreConflict(`${subject} is used by ${shown}${more}`)
}

/** `routes a, b`, or nothing. */
export function named(kind: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${kind}${names.length > 1 ? 's' : ''} ${names.slice(0, 20).join(', ')}`]
}
