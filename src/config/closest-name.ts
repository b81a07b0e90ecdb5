/** The known name that a mistyped one most likely meant, or null when none is near. */
export function closestName(name: string, known: readonly string[]): string | null {
  let best: string | null = null
  let least = Math.max(2, Math.ceil(name.length / 3)) + 1
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance < least) {
      least = distance
      best = candidate
    }
  }
  return best
}

/** Levenshtein: insertions, deletions and replacements. */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let leftIndex = 1; leftIndex <= left.length; leftIndex++) {
    const next = [leftIndex]
    for (let index = 1; index <= right.length; index++) {
      const replaced = (row[index - 1] ?? 0) + (left[leftIndex - 1] === right[index - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[index] ?? 0) + 1, (next[index - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[right.length] ?? 0
}
