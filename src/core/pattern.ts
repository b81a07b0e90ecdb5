/**
 * Names in which each `*` stands for any run of characters, also none. Matched without regular expressions: the names
 * come from clients, and this takes time linear in the name for each part.
 */
export interface Pattern {
  text: string
  /** What stands between the stars; a single part is an exact name. */
  parts: readonly string[]
  /** Characters that are not stars. More is more exact. */
  literals: number
}

export function compilePattern(text: string): Pattern {
  const parts = text.split('*')
  return { text, parts, literals: text.length - (parts.length - 1) }
}

export function isExact(pattern: Pattern): boolean {
  return pattern.parts.length === 1
}

export function matchesPattern(pattern: Pattern, name: string): boolean {
  const { parts } = pattern
  const first = parts[0] ?? ''
  if (parts.length === 1) return name === first
  const last = parts[parts.length - 1] ?? ''
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false
  const end = name.length - last.length
  let from = first.length
  for (let index = 1; index < parts.length - 1; index++) {
    const part = parts[index] ?? ''
    const found = name.indexOf(part, from)
    if (found < 0 || found + part.length > end) return false
    from = found + part.length
  }
  return true
}

/** What the only `*` of a matching pattern took; '' for an exact one. */
export function captureStar(pattern: Pattern, name: string): string {
  const [before = '', after] = pattern.parts
  return after === undefined ? '' : name.slice(before.length, name.length - after.length)
}

/** Puts `taken` where the only `*` stands; an exact name is returned as it is. */
export function fillStar(pattern: Pattern, taken: string): string {
  return pattern.parts.join(taken)
}
