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
    while (textWidth(rest) > width) {
      const head = takeCells(rest, width)
      if (head === '') break
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
