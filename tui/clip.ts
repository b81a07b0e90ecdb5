import { textWidth } from '../cli/print/text-width.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: what colours text begins with one.
const style = /\u001b\[[0-9;]*m/y

/** Cut to `width` cells, colours left as they are; the last cell of what was cut says so. */
export function clip(line: string, width: number): string {
  if (textWidth(line) <= width) return line
  const kept = takeCells(line, width - 1)
  return kept.includes('\u001b') ? `${kept}…\u001b[0m` : `${kept}…`
}

/** As much of the beginning as stands in so many cells. */
export function takeCells(line: string, width: number): string {
  let room = width
  let position = 0
  while (position < line.length) {
    style.lastIndex = position
    const colour = style.exec(line)?.[0]
    if (colour !== undefined) {
      position += colour.length
      continue
    }
    const next = firstSegment(line.slice(position, position + 64))
    room -= textWidth(next)
    if (room < 0) break
    position += next.length
  }
  return line.slice(0, position)
}

export function pad(line: string, width: number): string {
  const fitted = clip(line, width)
  return fitted + ' '.repeat(Math.max(0, width - textWidth(fitted)))
}

const segmenter = new Intl.Segmenter()

function firstSegment(text: string): string {
  for (const { segment } of segmenter.segment(text)) return segment
  return text
}

const plain: Record<string, string> = {
  '●': '*',
  '○': 'o',
  '◌': 'o',
  '▸': '>',
  '│': '|',
  '┃': '|',
  '─': '-',
  '━': '=',
  '…': '~',
  '–': '-',
  '·': '.',
  '→': '>',
  '←': '<',
  '↑': '^',
  '↓': 'v',
  '✓': 'v',
  '‹': '<',
  '›': '>',
  '×': 'x',
  '█': '#',
  '▒': '=',
  '░': '.',
  '↻': 'r',
  '•': '*',
  '▲': '!',
  '‖': '=',
  '▏': '|',
  '┄': '-',
  '┬': '+',
  '├': '+',
  '└': '+',
  '’': "'",
  '“': '"',
  '”': '"',
}
const bars = '▁▂▃▄▅▆▇█'
const levels = '_.:-=+*#'

/** For a terminal that has ASCII alone: a sign of the same width for each, so that nothing moves. */
export function toAscii(line: string): string {
  return line.replace(/[^ -~\p{Cc}]+/gu, (run) =>
    [...segmenter.segment(run)].map(({ segment }) => asciiOf(segment)).join(''),
  )
}

function asciiOf(segment: string): string {
  const level = bars.indexOf(segment)
  if (level >= 0) return levels[level] ?? '#'
  return plain[segment] ?? '?'.repeat(textWidth(segment))
}
