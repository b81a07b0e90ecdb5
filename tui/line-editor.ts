import { textWidth } from '../cli/print/text-width.ts'
import { escapeControls } from '../src/admin/contract/show-value.ts'
import type { KeyPress } from './keys.ts'

/** One line of text being written, with its cursor. Immutable. */
export interface EditedLine {
  text: string
  /** In whole characters, 0 before the first. */
  cursor: number
}

export function lineOf(text: string): EditedLine {
  return { text, cursor: charactersOf(text).length }
}

/** null: the press is none that a line takes. */
export function editLine(line: EditedLine, { name, text }: KeyPress): EditedLine | null {
  const characters = charactersOf(line.text)
  const { cursor } = line
  const moved = (to: number) => ({ ...line, cursor: Math.min(Math.max(to, 0), characters.length) })
  const without = (from: number, to: number) => ({
    text: [...characters.slice(0, from), ...characters.slice(to)].join(''),
    cursor: from,
  })
  switch (name) {
    case 'left':
      return moved(cursor - 1)
    case 'right':
      return moved(cursor + 1)
    case 'home':
    case 'ctrl-a':
      return moved(0)
    case 'end':
    case 'ctrl-e':
      return moved(characters.length)
    case 'backspace':
      return without(Math.max(0, cursor - 1), cursor)
    case 'delete':
      return without(cursor, cursor + 1)
    case 'ctrl-u':
      return without(0, cursor)
    case 'ctrl-k':
      return without(cursor, characters.length)
    case 'ctrl-w':
      return without(wordStart(characters, cursor), cursor)
    default:
      return text === '' ? null : insert(line, text)
  }
}

/** Pasted text: line ends and tabs become spaces, other controls are dropped. */
export function insert(line: EditedLine, given: string): EditedLine {
  const text = given.replace(/[\r\n\t]+/g, ' ').replace(/\p{Cc}/gu, '')
  const characters = charactersOf(line.text)
  const before = characters.slice(0, line.cursor).join('') + text
  return { text: before + characters.slice(line.cursor).join(''), cursor: charactersOf(before).length }
}

/** The part around the cursor that fits into `width` cells, and which cells the cursor stands on. */
export function windowOf(line: EditedLine, width: number): { before: string; under: string; after: string } {
  const shown = charactersOf(line.text).map(escapeControls)
  const under = shown[line.cursor] ?? ' '
  let before = ''
  let room = Math.max(0, width - textWidth(under))
  for (let index = line.cursor - 1; index >= 0; index--) {
    const size = textWidth(shown[index] ?? '')
    if (size > room) break
    before = (shown[index] ?? '') + before
    room -= size
  }
  let after = ''
  for (const character of shown.slice(line.cursor + 1)) {
    const size = textWidth(character)
    if (size > room) break
    after += character
    room -= size
  }
  return { before, under, after }
}

function wordStart(characters: readonly string[], cursor: number): number {
  let position = cursor
  while (position > 0 && characters[position - 1] === ' ') position--
  while (position > 0 && characters[position - 1] !== ' ') position--
  return position
}

function charactersOf(text: string): string[] {
  return [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment)
}
