import type { Press } from './keys.ts'
import { editLine, insert, type Line, lineOf, windowOf } from './line-editor.ts'
import type { Look } from './screen.ts'

/** The text after `/`: rows without it are not shown. */
export class Filter {
  #line: Line = lineOf('')
  typing = false

  get text(): string {
    return this.#line.text.trim().toLowerCase()
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
  press(press: Press): boolean {
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
  draw(shown: number, all: number, look: Look): string[] {
    if (!this.typing && this.text === '') return []
    const { before, under, after } = windowOf(this.#line, 40)
    const text = this.typing ? before + look.cursor(under) + after : this.#line.text
    return [`${look.paint('strong', '/')} ${text}  ${look.paint('quiet', `${shown} of ${all}`)}`]
  }
}

/** Any value of the row, or of what is in it, holds the text. */
export function matches(row: unknown, text: string): boolean {
  if (text === '') return true
  if (row === null || row === undefined) return false
  if (typeof row === 'object') return Object.values(row).some((value) => matches(value, text))
  return String(row).toLowerCase().includes(text)
}
