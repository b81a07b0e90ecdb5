import type { Span } from './json-scan.ts'

/** JSON from clients and providers is read leniently: a value of another type than expected counts as absent, never as an error. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Undefined for bytes that are not JSON. */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

export function parseObject(bytes: Buffer): JsonObject | null {
  return asObject(parseJson(bytes))
}

/**
 * A value that a scan found. Undefined where it is not JSON, since a scan does not look inside strings, and where it is longer than `longest`,
 * so that nobody reads what could mean nothing.
 */
export function readValue(bytes: Buffer, { start, end }: Span, longest = Infinity): unknown {
  try {
    return end - start > longest ? undefined : JSON.parse(bytes.toString('utf8', start, end))
  } catch {
    return undefined
  }
}

/** The members that a scan found. */
export function readMembers(bytes: Buffer, members: readonly (Span & { name: string })[]): JsonObject {
  const values: Record<string, unknown> = {}
  for (const member of members) values[member.name] = readValue(bytes, member)
  return values
}

export function asObject(value: unknown): JsonObject | null {
  // As `isObject` asks, without the call: this runs for every event of every stream.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The objects of a list; what else it holds is left out. */
export function asObjects(value: unknown): JsonObject[] {
  return asArray(value).flatMap((each): JsonObject[] => {
    const object = asObject(each)
    return object === null ? [] : [object]
  })
}

/** Null for an empty string too. */
export function asText(value: unknown): string | null {
  return asString(value) || null
}

export function asString(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Zero for anything but a count. */
export function asCount(value: unknown): number {
  return isCount(value) ? value : 0
}

/** Null for anything but a count of at least one. */
export function asPositiveCount(value: unknown): number | null {
  return isCount(value) && value > 0 ? value : null
}

/** Fractions, and numbers too large to be exact, are no counts: they could not be stored or summed. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
