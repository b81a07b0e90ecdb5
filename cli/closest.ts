/** The known name nearest to a mistyped one, if any is near enough to be meant. */
export function closest(name: string, known: readonly string[]): string | null {
  let best: string | null = null
  let least = Math.max(1, Math.floor(name.length * 0.4)) + 1
  for (const candidate of known) {
    const distance = editDistance(name, candidate)
    if (distance < least) {
      best = candidate
      least = distance
    }
  }
  return best
}

/** Damerau–Levenshtein, restricted: insertions, deletions, replacements and swapped neighbours count one each. */
function editDistance(from: string, to: string): number {
  let twoBack: number[] = []
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      let cost = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      )
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        cost = Math.min(cost, (twoBack[column - 2] ?? 0) + 1)
      }
      current.push(cost)
    }
    twoBack = previous
    previous = current
  }
  return previous[to.length] ?? 0
}
