import type { KeyPress } from './keys.ts'
import type { DrawArea, TextTheme } from './screen.ts'

/** Lines that are longer than the screen: where in them one is. */
export class Pager {
  #top = 0
  #total = 0
  #height = 1

  draw(lines: readonly string[], { height, theme }: DrawArea): string[] {
    this.#total = lines.length
    this.#height = lines.length > height ? height - 1 : height
    this.#top = Math.min(this.#top, Math.max(0, this.#total - this.#height))
    const seen = lines.slice(this.#top, this.#top + this.#height)
    return lines.length > height ? [...seen, this.#where(theme)] : seen
  }

  #where(theme: TextTheme): string {
    const below = this.#total - this.#top - this.#height
    const words = [this.#top > 0 ? `${this.#top} above` : '', below > 0 ? `${below} more` : ''].filter(Boolean)
    return theme.paint('quiet', words.join(' · '))
  }

  toTop(): void {
    this.#top = 0
  }

  press({ name }: KeyPress): boolean {
    const to = this.#target(name)
    if (to === null) return false
    this.#top = Math.max(0, Math.min(to, this.#total - this.#height))
    return true
  }

  #target(name: string): number | null {
    const page = Math.max(1, this.#height - 1)
    switch (name) {
      case 'up':
      case 'k':
        return this.#top - 1
      case 'down':
      case 'j':
        return this.#top + 1
      case 'pageup':
      case 'ctrl-u':
        return this.#top - page
      case 'pagedown':
      case 'ctrl-d':
      case ' ':
        return this.#top + page
      case 'home':
      case 'g':
        return 0
      case 'end':
      case 'G':
        return this.#total
      default:
        return null
    }
  }
}
