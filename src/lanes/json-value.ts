import type { Span } from '../core/json-scan.ts'

export type JsonObject = Record<string, unknown>

/** Providers' JSON is read leniently: what has another type than expected counts as absent. */
export function asObject(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function asText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** A count of tokens; 0 for what is none. */
export function asCount(value: unknown): number {
  return isCount(value) ? value : 0
}

/** Fractions and numbers beyond exactness are none either: they could not be stored or summed. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

export function parseObject(bytes: Buffer): JsonObject | null {
  try {
    return asObject(JSON.parse(bytes.toString('utf8')))
  } catch {
    return null
  }
}

/** Undefined for what does not parse: a scan does not look inside strings. */
export function readValue(bytes: Buffer, span: Span): unknown {
  try {
    return JSON.parse(bytes.toString('utf8', span.start, span.end))
  } catch {
    return undefined
  }
}
