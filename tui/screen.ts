import type { View } from '../cli/print/view.ts'
import type { KeyPress } from './keys.ts'

/** How the terminal is, and how a person wants it. */
export interface TextTheme extends View {
  /** Rows are marked with colour and weight, too; without it, by signs alone. */
  colour: boolean
  /** Makes the character under the cursor stand out. */
  cursor(character: string): string
}

/** Where a screen draws. */
export interface DrawArea {
  width: number
  height: number
  theme: TextTheme
}

/** A key and what it does, for the last line. */
export type Hint = readonly [key: string, what: string]

/** One thing to look at. Draws lines of text, at most as many as it is given room for; knows nothing of the terminal. */
export interface Screen {
  readonly title: string
  draw(area: DrawArea): string[]
  hints(): Hint[]
  /** Whether the press meant something here. */
  press(press: KeyPress): boolean
  /** Letters are text here, not commands. */
  readonly typing?: boolean
  /** Only on the way to something, and gone once that is done. */
  readonly isDialog?: boolean
  paste?(text: string): void
  /** Comes into sight, and goes out of it: nothing is asked of the gateway meanwhile. */
  show?(): void
  hide?(): void
  /** Shows only what the filters leave; `label` says whose that is. */
  filterBy?(filters: Record<string, unknown>, label: string): void
  /** Is left for good, and ends what it started. */
  close?(): void
  /** Something was changed: what is shown may be old. */
  refresh?(): void
}
