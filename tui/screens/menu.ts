import { alignText } from '../../cli/print/table.ts'
import { textWidth } from '../../cli/print/text-width.ts'
import { clip } from '../clip.ts'
import type { MenuEntry } from '../host.ts'
import type { KeyPress } from '../keys.ts'
import { mark } from '../lines.ts'
import type { DrawArea, Hint, Screen } from '../screen.ts'
import { moveSelection, type Selection, stepOf } from '../selection.ts'

/** A choice from a few: what can be done, where one can go. */
export class MenuScreen implements Screen {
  readonly title: string
  readonly isDialog: boolean
  readonly #entries: () => readonly MenuEntry[]
  #selection: Selection = { index: 0, top: 0 }
  #height = 1

  constructor(title: string, entries: () => readonly MenuEntry[], options: { isDialog: boolean } = { isDialog: true }) {
    this.title = title
    this.isDialog = options.isDialog
    this.#entries = entries
  }

  draw({ width, height, theme }: DrawArea): string[] {
    const entries = this.#entries()
    this.#height = height
    this.#selection = moveSelection(this.#selection, 0, entries.length, height)
    const { index, top } = this.#selection
    const labelWidth = Math.max(0, ...entries.map(({ label }) => textWidth(label)))
    return entries.slice(top, top + height).map(({ label, detail }, position) => {
      const selected = top + position === index
      const name = alignText(label, labelWidth, false)
      const line = `${mark(selected, theme)}${selected ? theme.paint('strong', name) : name}`
      return clip(`${line}  ${theme.paint('quiet', detail)}`, width)
    })
  }

  hints(): Hint[] {
    return [
      ['↑↓', 'move'],
      ['enter', 'choose'],
    ]
  }

  press({ name }: KeyPress): boolean {
    const entries = this.#entries()
    if (name === 'enter') entries[this.#selection.index]?.run()
    else {
      const step = stepOf(name, this.#height)
      if (step === null) return false
      this.#selection = moveSelection(this.#selection, step, entries.length, this.#height)
    }
    return true
  }
}
