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

let second = { start: Number.NaN, text: '' }

/** Like `Date.prototype.toISOString`, of a time in milliseconds; what requests of one second share is found once. */
export function isoTime(milliseconds: number): string {
  const start = Math.floor(milliseconds / 1000) * 1000
  if (second.start !== start) second = { start, text: new Date(start).toISOString().slice(0, -4) }
  return flatText(second.text, String(milliseconds - start).padStart(3, '0'), 'Z')
}
