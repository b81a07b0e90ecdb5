import type { Detection } from '../detectors/detector.ts'
import type { Seeker } from './seeker.ts'

const mostValues = 10_000
const placeholderForm = /\[[A-Z0-9_]+_\d+\]/g
const beginningForm = /^\[[A-Z0-9_]*$/
const longestPlaceholder = 100

/** What stands for what in one request: the same value always has the same placeholder. */
export class Placeholders {
  readonly #byValue = new Map<string, string>()
  readonly #originals = new Map<string, string>()
  readonly #last = new Map<string, number>()
  readonly #isTaken: (placeholder: string) => boolean

  /** `isTaken`: the prompt itself has such a text, which must not be taken for a placeholder. */
  constructor(isTaken: (placeholder: string) => boolean) {
    this.#isTaken = isTaken
  }

  /** `[EMAIL_1]`. */
  mask(label: string, value: string, reversible: boolean): string {
    const key = `${label} ${value}`
    const placeholder = this.#byValue.get(key) ?? this.#add(key, label)
    if (reversible) this.#originals.set(placeholder, value)
    return placeholder
  }

  original(placeholder: string): string | undefined {
    return this.#originals.get(placeholder)
  }

  /** Finds the placeholders that are to become what they stand for; null: there are none. */
  restorer(): Seeker | null {
    const originals = this.#originals
    if (originals.size === 0) return null
    const known = [...originals.keys()]
    return {
      find(text) {
        if (!text.includes('[')) return []
        return [...text.matchAll(placeholderForm)].flatMap(({ index, 0: found }): Detection[] =>
          originals.has(found) ? [{ start: index, end: index + found.length, note: '' }] : [],
        )
      },
      growingFrom(text) {
        const from = text.lastIndexOf('[')
        if (from < Math.max(0, text.length - longestPlaceholder)) return text.length
        const rest = text.slice(from)
        return beginningForm.test(rest) && known.some((one) => one.startsWith(rest)) ? from : text.length
      },
      rest: null,
      inJson: null,
    }
  }

  #add(key: string, label: string): string {
    if (this.#byValue.size >= mostValues) throw new Error('there is too much to redact')
    let number = (this.#last.get(label) ?? 0) + 1
    while (this.#isTaken(`[${label}_${number}]`)) number++
    this.#last.set(label, number)
    const placeholder = `[${label}_${number}]`
    this.#byValue.set(key, placeholder)
    return placeholder
  }
}
