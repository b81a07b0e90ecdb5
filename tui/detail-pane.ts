import { pad } from './clip.ts'
import type { KeyPress } from './keys.ts'
import type { DrawArea, Hint, Screen } from './screen.ts'

/** From this width on, a row's details stand beside the list. */
const wideFrom = 120

/** What is open of a list: on its right where there is room, else in its place. */
export class DetailPane {
  #screen: Screen | null = null
  /** It has the keys, and all the room. */
  #alone = false
  #wide = false

  get isOpen(): boolean {
    return this.#screen !== null
  }

  open(screen: Screen): void {
    this.#screen?.hide?.()
    this.#screen = screen
    screen.show?.()
  }

  close(): void {
    this.#screen?.hide?.()
    this.#screen = null
    this.#alone = false
  }

  show(): void {
    this.#screen?.show?.()
  }

  hide(): void {
    this.#screen?.hide?.()
  }

  refresh(): void {
    this.#screen?.refresh?.()
  }

  draw(area: DrawArea, drawList: (area: DrawArea) => string[]): string[] {
    this.#wide = area.width >= wideFrom
    if (this.#screen === null) return drawList(area)
    if (this.hasKeys) return this.#screen.draw(area)
    const leftWidth = Math.floor(area.width * 0.48)
    const left = drawList({ ...area, width: leftWidth })
    const right = this.#screen.draw({ ...area, width: area.width - leftWidth - 3 })
    const bar = area.theme.paint('quiet', '│')
    return Array.from(
      { length: area.height },
      (_, row) => `${pad(left[row] ?? '', leftWidth)} ${bar} ${right[row] ?? ''}`,
    )
  }

  /** The list is not to be seen, or left alone. */
  get hasKeys(): boolean {
    return this.#screen !== null && (!this.#wide || this.#alone)
  }

  /** null: the list's own are due. */
  hints(): Hint[] | null {
    return this.hasKeys ? (this.#screen?.hints() ?? null) : null
  }

  /** Whether the press was for what is open. Beside the list, the arrows stay with the list. */
  press(press: KeyPress): boolean {
    if (this.#screen === null) return false
    if (press.name === 'escape' || press.name === 'left') {
      if (this.#wide && this.#alone) this.#alone = false
      else this.close()
      return true
    }
    if (this.hasKeys) return this.#screen.press(press)
    if (press.name !== 'enter' && press.name !== 'right') return false
    this.#alone = true
    return true
  }
}
