/** Part of two texts: in both, in the first alone, or in the second alone. */
export interface TextChange {
  kind: 'same' | 'removed' | 'added'
  text: string
}

/** Both texts together have at most so many words, or lines, that are compared one with another: some million steps. */
const mostPairs = 4_000_000

/** How a text became another, word by word; line by line where there are too many words; null where even that is too much. */
export function compareTexts(before: string, after: string): TextChange[] | null {
  return compare(wordsOf(before), wordsOf(after)) ?? compare(linesOf(before), linesOf(after))
}

const wordsOf = (text: string) => text.match(/\s+|[^\s]+/g) ?? []
const linesOf = (text: string) => text.match(/[^\n]*\n|[^\n]+/g) ?? []

function compare(before: readonly string[], after: readonly string[]): TextChange[] | null {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let end = 0
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++
  const left = before.slice(start, before.length - end)
  const right = after.slice(start, after.length - end)
  if (left.length * right.length > mostPairs) return null
  const parts = new Parts()
  for (const word of before.slice(0, start)) parts.add('same', word)
  alignInto(parts, left, right)
  for (const word of before.slice(before.length - end)) parts.add('same', word)
  return parts.list
}

/** Along the longest run of words that both have in the same order. */
function alignInto(parts: Parts, left: readonly string[], right: readonly string[]): void {
  const width = right.length + 1
  const lengths = new Uint16Array((left.length + 1) * width)
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0
  for (let row = left.length - 1; row >= 0; row--)
    for (let column = right.length - 1; column >= 0; column--)
      lengths[row * width + column] =
        left[row] === right[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1))
  let row = 0
  let column = 0
  while (row < left.length || column < right.length) {
    const one = left[row]
    const other = right[column]
    if (one !== undefined && one === other) {
      parts.add('same', one)
      row++
      column++
    } else if (one !== undefined && (other === undefined || at(row + 1, column) >= at(row, column + 1))) {
      parts.add('removed', one)
      row++
    } else if (other !== undefined) {
      parts.add('added', other)
      column++
    }
  }
}

class Parts {
  readonly list: TextChange[] = []

  add(kind: TextChange['kind'], text: string): void {
    const last = this.list.at(-1)
    if (last?.kind === kind) last.text += text
    else this.list.push({ kind, text })
  }
}
