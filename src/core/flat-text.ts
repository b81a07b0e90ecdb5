const encoder = new TextEncoder()
const decoder = new TextDecoder()

/**
 * One plain string of its parts, for what goes into every record. Joined with `+` or in a template, V8 keeps a tree of
 * the parts, and a single one of those in it makes the JSON of a whole record three times as dear (measured: 6 µs, not 2).
 */
export function flatText(...parts: string[]): string {
  // The join of one part is that part as it is, tree and all.
  return parts.length > 1 ? parts.join('') : decoder.decode(encoder.encode(parts[0] ?? ''))
}
