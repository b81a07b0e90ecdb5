import { textWidth } from './text-width.ts'

/** In lines that fit; a word that is longer than a line, such as an id or a URL, stays whole. null: one line. */
export function wrapWords(text: string, width: number | null): string[] {
  if (width === null) return [text]
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    const fits = line !== undefined && textWidth(line) + 1 + textWidth(word) <= width
    if (fits) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}

const leastRoom = 20

/** Behind what already stands on its first line, such as a title; the lines below are set in by as much. */
export function hangingLines(text: string, indent: number, width: number | null): string[] {
  const lines = wrapWords(text, width === null ? null : Math.max(leastRoom, width - indent))
  return lines.map((line, index) => (index === 0 ? line : ' '.repeat(indent) + line))
}
