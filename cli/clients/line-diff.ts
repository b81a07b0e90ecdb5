/** What changes from one text to another, line by line, with the lines around it: `- old`, `+ new`, `  same`. */
export function diffLines(before: string, after: string, around = 2): string[] {
  const [old, fresh] = [splitLines(before), splitLines(after)]
  const marked = mark(old, fresh)
  const isNear = marked.map((_, place) =>
    marked.slice(Math.max(0, place - around), place + around + 1).some(({ sign }) => sign !== ' '),
  )
  return marked.flatMap(({ sign, line }, place) => (isNear[place] ? [`${sign} ${line}`.trimEnd()] : []))
}

interface Marked {
  sign: ' ' | '-' | '+'
  line: string
}

/** Along a longest common subsequence: settings are short. */
function mark(old: readonly string[], fresh: readonly string[]): Marked[] {
  const lengths = commonLengths(old, fresh)
  const marked: Marked[] = []
  let [left, right] = [0, 0]
  while (left < old.length || right < fresh.length) {
    if (left < old.length && right < fresh.length && old[left] === fresh[right]) {
      marked.push({ sign: ' ', line: old[left] ?? '' })
      left++
      right++
    } else if (
      right >= fresh.length ||
      (left < old.length && at(lengths, left + 1, right) >= at(lengths, left, right + 1))
    ) {
      marked.push({ sign: '-', line: old[left++] ?? '' })
    } else {
      marked.push({ sign: '+', line: fresh[right++] ?? '' })
    }
  }
  return marked
}

/** Row and column: how many lines the two have in common from there on. */
function commonLengths(old: readonly string[], fresh: readonly string[]): number[][] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Array<number>(fresh.length + 1).fill(0))
  for (let left = old.length - 1; left >= 0; left--) {
    for (let right = fresh.length - 1; right >= 0; right--) {
      const row = lengths[left]
      if (row === undefined) continue
      row[right] =
        old[left] === fresh[right]
          ? at(lengths, left + 1, right + 1) + 1
          : Math.max(at(lengths, left + 1, right), at(lengths, left, right + 1))
    }
  }
  return lengths
}

function at(lengths: readonly number[][], left: number, right: number): number {
  return lengths[left]?.[right] ?? 0
}

function splitLines(text: string): string[] {
  const lines = text.split('\n')
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}
