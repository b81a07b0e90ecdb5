import { alignText } from '../../cli/print/table.ts'
import { textWidth } from '../../cli/print/text-width.ts'
import { clip } from '../clip.ts'
import type { Entry } from '../host.ts'
import type { Press } from '../keys.ts'
import { mark } from '../lines.ts'
import type { Hint, Place, Screen } from '../screen.ts'
import { moveIn, type Selection, stepOf } from '../selection.ts'

/** A choice from a few: what can be done, where one can go. */
export class MenuScreen implements Screen {
  readonly title: string
  readonly passing: boolean
  readonly #entries: () => readonly Entry[]
  #selection: Selection = { index: 0, top: 0 }
  #height = 1

  constructor(title: string, entries: () => readonly Entry[], options: { passing: boolean } = { passing: true }) {
    this.title = title
    this.passing = options.passing
    this.#entries = entries
  }

  draw({ width, height, look }: Place): string[] {
    const entries = this.#entries()
    this.#height = height
    this.#selection = moveIn(this.#selection, 0, entries.length, height)
    const { index, top } = this.#selection
    const labelWidth = Math.max(0, ...entries.map(({ label }) => textWidth(label)))
    return entries.slice(top, top + height).map(({ label, detail }, place) => {
      const selected = top + place === index
      const name = alignText(label, labelWidth, false)
      const line = `${mark(selected, look)}${selected ? look.paint('strong', name) : name}`
      return clip(`${line}  ${look.paint('quiet', detail)}`, width)
    })
  }

  hints(): Hint[] {
    return [
      ['↑↓', 'move'],
      ['enter', 'choose'],
    ]
  }

  press({ name }: Press): boolean {
    const entries = this.#entries()
    if (name === 'enter') entries[this.#selection.index]?.run()
    else {
      const step = stepOf(name, this.#height)
      if (step === null) return false
      this.#selection = moveIn(this.#selection, step, entries.length, this.#height)
    }
    return true
  }
}
