import { asObject, type JsonObject } from '../core/json-value.ts'

/** Members of an answer that nobody reads and that say something: clients of another format do not get them. */
export function lostMembers(object: JsonObject | null, read: ReadonlySet<string>): string[] {
  const lost: string[] = []
  for (const name in object) if (!read.has(name) && saysSomething(object[name])) lost.push(name)
  return lost
}

function saysSomething(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  const object = asObject(value)
  if (object !== null) return Object.values(object).some(saysSomething)
  return value !== null && value !== undefined && value !== '' && value !== false
}
