import { asObject, type JsonObject } from '../core/json/json-value.ts'

/** Members of an answer that are not read but say something: clients of another format do not get them. */
export function lostMembers(object: JsonObject | null, read: ReadonlySet<string>): string[] {
  const lost: string[] = []
  for (const name in object) if (!read.has(name) && saysSomething(object[name])) lost.push(name)
  return lost
}

/** Values by which a filter says that it found nothing; the last is Vertex's. */
const nothingFound: ReadonlySet<unknown> = new Set(['safe', 'NEGLIGIBLE', 'HARM_SEVERITY_NEGLIGIBLE'])

/** Whether a filter found anything, in Azure's and Google's words. Most findings say that there is nothing. */
export function isFlagged(found: unknown): boolean {
  if (Array.isArray(found)) return found.some(isFlagged)
  const object = asObject(found)
  if (object === null) return false
  const { filtered, detected, blocked, severity, probability } = object
  if (filtered === true || detected === true || blocked === true) return true
  if (!(nothingFound.has(severity ?? 'safe') && nothingFound.has(probability ?? 'NEGLIGIBLE'))) return true
  return Object.values(object).some(isFlagged)
}

function saysSomething(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  const object = asObject(value)
  if (object !== null) return Object.values(object).some(saysSomething)
  return value !== null && value !== undefined && value !== '' && value !== false
}
