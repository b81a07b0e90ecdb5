const maxSuggestions = 3
/** Longer than any name that somebody mistypes; comparing costs its square. */
const longestName = 100
/** A suggestion must stay cheap however many names there are: about a millisecond. */
const maxCompared = 2000

/** At most three names that a person may have meant, the likeliest first. For lists of any length, such as models. */
export function closestNames(asked: string, names: Iterable<string>): string[] {
  if (asked.length > longestName) return []
  const wanted = asked.toLowerCase()
  const limit = wanted.length <= 4 ? 1 : wanted.length <= 8 ? 2 : 3
  const found = new Map<string, number>()
  let compared = 0
  for (const name of names) {
    const lower = name.toLowerCase()
    if (isDatedForm(wanted, lower)) found.set(name, limit)
    if (Math.abs(wanted.length - lower.length) > limit) continue
    if (++compared > maxCompared) break
    const distance = editDistance(wanted, lower, limit)
    if (distance <= limit) found.set(name, distance)
  }
  return [...found]
    .sort(([one, near], [other, far]) => near - far || (one < other ? -1 : 1))
    .slice(0, maxSuggestions)
    .map(([name]) => name)
}

/** The one name of a short list that a mistyped one most likely meant; null when none is near. */
export function closestName(asked: string, known: readonly string[]): string | null {
  if (asked.length > longestName) return null
  let best: string | null = null
  let limit = Math.max(asked.length < 4 ? 1 : 2, Math.ceil(asked.length / 3))
  for (const name of known) {
    const distance = editDistance(asked.toLowerCase(), name.toLowerCase(), limit)
    if (distance > limit) continue
    best = name
    limit = distance - 1
  }
  return best
}

/** A dated name and its undated family count as near, however long the date. */
function isDatedForm(wanted: string, name: string): boolean {
  return wanted !== '' && (name.startsWith(`${wanted}-`) || wanted.startsWith(`${name}-`))
}

/**
 * Insertions, deletions, replacements and swaps of neighbours count one each (optimal string alignment). Infinity once the
 * distance exceeds `limit`: cells further than `limit` from the diagonal cannot matter and stay infinite.
 */
export function editDistance(one: string, other: string, limit: number): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let row = 1; row <= one.length; row++) {
    const current = fillRow(one, other, row, limit, last, beforeLast)
    // Two rows, because a swap reaches back over one that may be too far already.
    if (current.least > limit && Math.min(...last) > limit) return Number.POSITIVE_INFINITY
    beforeLast = last
    last = current.cells
  }
  const distance = at(last, other.length)
  return distance > limit ? Number.POSITIVE_INFINITY : distance
}

function fillRow(one: string, other: string, row: number, limit: number, last: number[], beforeLast: number[]) {
  const cells = new Array<number>(other.length + 1).fill(Number.POSITIVE_INFINITY)
  cells[0] = row
  let least = row
  const end = Math.min(other.length, row + limit)
  for (let column = Math.max(1, row - limit); column <= end; column++) {
    const changed = one[row - 1] === other[column - 1] ? 0 : 1
    let best = Math.min(at(last, column) + 1, at(cells, column - 1) + 1, at(last, column - 1) + changed)
    const swapped = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
    if (swapped) best = Math.min(best, at(beforeLast, column - 2) + 1)
    cells[column] = best
    least = Math.min(least, best)
  }
  return { cells, least }
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
