const most = 3
const longestName = 100

/** At most three names that a person may have meant, the likeliest first. */
export function closestNames(asked: string, names: Iterable<string>): string[] {
  if (asked.length > longestName) return []
  const wanted = asked.toLowerCase()
  const limit = wanted.length <= 4 ? 1 : wanted.length <= 8 ? 2 : 3
  const found = new Map<string, number>()
  for (const name of names) {
    const distance = distanceTo(wanted, name.toLowerCase(), limit)
    if (distance <= limit) found.set(name, distance)
  }
  return [...found]
    .sort(([one, near], [other, far]) => near - far || (one < other ? -1 : 1))
    .slice(0, most)
    .map(([name]) => name)
}

/** A dated name and its undated family are as good as a slip or two, however long the date. */
function distanceTo(wanted: string, name: string, limit: number): number {
  if (wanted !== '' && (name.startsWith(`${wanted}-`) || wanted.startsWith(`${name}-`))) return limit
  if (Math.abs(wanted.length - name.length) > limit) return Number.POSITIVE_INFINITY
  return editDistance(wanted, name, limit)
}

/**
 * Characters put in, left out, changed, or swapped with their neighbour (optimal string alignment). Gives up with
 * infinity once the distance is over `limit`.
 */
export function editDistance(one: string, other: string, limit: number): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1]
      let best = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1))
      const swapped = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      if (swapped) best = Math.min(best, at(beforeLast, column - 2) + 1)
      current.push(best)
    }
    // Two rows: a swap may reach over one that is already too far.
    if (Math.min(...current) > limit && Math.min(...last) > limit) return Number.POSITIVE_INFINITY
    beforeLast = last
    last = current
  }
  const distance = at(last, other.length)
  return distance > limit ? Number.POSITIVE_INFINITY : distance
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
