import { randomBytes } from 'node:crypto'

/** The identity with which a gateway asks. */
export interface Self {
  cluster: string
  member: string
  /** Identifies this run of the gateway: a copy of its data directory that runs elsewhere has another. Begins with its start. */
  incarnation: string
}

const startDigits = 9

export function newIncarnation(): string {
  const start = Date.now().toString(36).padStart(startDigits, '0')
  return `${start}.${randomBytes(9).toString('base64url')}`
}

/**
 * SQL: whether PostgreSQL knows this run of a member, or an earlier one only, as after it was restored from a backup. A copy of the data
 * directory that runs elsewhere began later. Earlier versions do not say when they began.
 */
export function knowsRun(known: string, own: string): string {
  const form = `'${'_'.repeat(startDigits)}.%'`
  return `(${known} = ${own} or (${known} like ${form} and ${own} like ${form} and ${known} collate "C" < ${own}))`
}
