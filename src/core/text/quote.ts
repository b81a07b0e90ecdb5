const longest = 80

/** A name that somebody else chose, fit for a sentence: in double quotes, without control characters, at most 80 long. */
export function quote(name: string): string {
  const cut = name.length > longest ? `${name.slice(0, longest)}…` : name
  // Line and direction marks could make one line of a terminal look like another.
  return `"${cut.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '?')}"`
}
