import { isObject } from '../../core/json/is-object.ts'

/** What a `*_json` column holds. The shape is vouched for by whoever wrote it: this store's own code. */
export function readJson<Value>(text: string): Value {
  return JSON.parse(text) as Value
}

export function writeJson(value: unknown): string {
  return JSON.stringify(value ?? null)
}

/** JSON with its keys sorted at every level, so that equal values are equal text (the audit chain hashes it). */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value ?? null, (_key, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1)))
      : inner,
  )
}
