import { alignText } from '../cli/print/table.ts'
import { textWidth } from '../cli/print/text-width.ts'
import { escapeControls } from '../src/admin/contract/show-value.ts'
import { takeCells } from './clip.ts'
import type { TextTheme } from './screen.ts'

/** In lines that fit; words longer than a line are cut over several. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  const flush = () => {
    lines.push(line)
    line = ''
  }
  for (const word of escapeControls(text).split(' ')) {
    if (line !== '' && textWidth(line) + 1 + textWidth(word) > width) flush()
    let rest = line === '' ? word : `${line} ${word}`
    // Measured a line at a time: a page of Chinese is one word.
    for (let head = takeCells(rest, width); head !== '' && head !== rest; head = takeCells(rest, width)) {
      lines.push(head)
      rest = rest.slice(head.length)
    }
    line = rest
  }
  flush()
  return lines
}

/** The row that the keys act on: by its sign, and where there is colour by its look. */
export function mark(selected: boolean, theme: TextTheme): string {
  return selected ? theme.paint('strong', '▸ ') : '  '
}

/** `title  value`, the titles in one column. */
export function pairs(rows: readonly (readonly [title: string, value: string])[], theme: TextTheme): string[] {
  const width = Math.max(0, ...rows.map(([title]) => textWidth(title)))
  return rows.map(([title, value]) => `${theme.paint('quiet', alignText(title, width, false))}  ${value}`)
}

/** Rows of cells, each column as wide as its widest; the last one goes on below itself. */
export function columnsOf(rows: readonly (readonly string[])[], width: number): string[] {
  const widths = (rows[0] ?? [])
    .slice(0, -1)
    .map((_, index) => Math.max(...rows.map((row) => textWidth(row[index] ?? ''))))
  const before = widths.reduce((sum, one) => sum + one + 2, 0)
  return rows.flatMap((row) => {
    const head = widths.map((one, index) => `${alignText(row[index] ?? '', one, false)}  `).join('')
    const parts = wrap(row.at(-1) ?? '', Math.max(12, width - before))
    return parts.map((part, index) => ((index === 0 ? head : ' '.repeat(before)) + part).trimEnd())
  })
}

/** Coloured words side by side, in as many lines as they need. */
export function flow(words: readonly string[], width: number): string[] {
  const lines: string[] = []
  for (const word of words) {
    const last = lines.at(-1)
    if (last !== undefined && textWidth(last) + 2 + textWidth(word) <= width)
      lines[lines.length - 1] = `${last}  ${word}`
    else lines.push(word)
  }
  return lines
}
