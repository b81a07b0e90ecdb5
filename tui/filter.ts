import { groupDigits } from '../src/core/units.ts'
import type { KeyPress } from './keys.ts'
import { type EditedLine, editLine, insert, lineOf, windowOf } from './line-editor.ts'
import type { TextTheme } from './screen.ts'

/** The text after `/`: rows without it are not shown. */
export class RowFilter {
  #line: EditedLine = lineOf('')
  typing = false

  /** A whole key is looked for by its end, which is all that is known. */
  get text(): string {
    const given = this.given
    return (/^sp_live_\w{4,}$/.test(given) ? given.slice(-4) : given).toLowerCase()
  }

  get given(): string {
    return this.#line.text.trim()
  }

  paste(text: string): void {
    this.#line = insert(this.#line, text)
  }

  clear(): void {
    this.#line = lineOf('')
    this.typing = false
  }

  /** Whether the press was the filter's. */
  press(press: KeyPress): boolean {
    if (!this.typing) {
      if (press.name === 'escape' && this.text !== '') this.clear()
      else if (press.name === '/') this.typing = true
      else return false
      return true
    }
    if (press.name === 'escape') this.clear()
    else if (press.name === 'enter') this.typing = false
    else {
      const edited = editLine(this.#line, press)
      // An arrow leaves the text and moves in what it left.
      if (edited === null) this.typing = false
      if (edited === null) return false
      this.#line = edited
    }
    return true
  }

  /** No line while there is nothing to say. */
  draw(shown: number, all: number, theme: TextTheme): string[] {
    if (!this.typing && this.text === '') return []
    const { before, under, after } = windowOf(this.#line, 40)
    const text = this.typing ? before + theme.cursor(under) + after : this.#line.text
    return [
      `${theme.paint('strong', '/')} ${text}  ${theme.paint('quiet', `${groupDigits(shown)} of ${groupDigits(all)}`)}`,
    ]
  }
}

/** Any value of the row, or of what is in it, holds the text. */
export function matches(row: unknown, text: string): boolean {
  if (text === '') return true
  if (row === null || row === undefined) return false
  if (typeof row === 'object') return Object.values(row).some((value) => matches(value, text))
  return String(row).toLowerCase().includes(text)
}
