import stringWidth from 'string-width'
import { alignText, cut } from '../cli/print/table.ts'
import { escapeControls } from '../src/admin/contract/show-value.ts'
import type { Look } from './screen.ts'

/** In lines that fit; words longer than a line are cut over several. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  const flush = () => {
    lines.push(line)
    line = ''
  }
  for (const word of escapeControls(text).split(' ')) {
    if (line !== '' && stringWidth(line) + 1 + stringWidth(word) > width) flush()
    let rest = line === '' ? word : `${line} ${word}`
    while (stringWidth(rest) > width) {
      const head = cut(rest, width + 1).slice(0, -1)
      if (head === '') break
      lines.push(head)
      rest = rest.slice(head.length)
    }
    line = rest
  }
  flush()
  return lines
}

/** A heading, with a line under the whole width where there is room for one. */
export function heading(text: string, look: Look): string {
  return look.paint('strong', text)
}

/** The row that the keys act on: by its sign, and where there is colour by its look. */
export function mark(selected: boolean, look: Look): string {
  return selected ? look.paint('strong', '▸ ') : '  '
}

/** `title  value`, the titles in one column. */
export function pairs(rows: readonly (readonly [title: string, value: string])[], look: Look): string[] {
  const width = Math.max(0, ...rows.map(([title]) => stringWidth(title)))
  return rows.map(([title, value]) => `${look.paint('quiet', alignText(title, width, false))}  ${value}`)
}

/** The part of a long text that is seen, and where in it one is. */
export interface Scroll {
  top: number
}

export function scrollBy(scroll: Scroll, lines: number, total: number, height: number): Scroll {
  return { top: Math.min(Math.max(0, scroll.top + lines), Math.max(0, total - height)) }
}
