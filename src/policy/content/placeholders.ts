import type { Detection } from '../detectors/detector.ts'
import type { Seeker } from './seeker.ts'

const mostValues = 10_000
/** Values of earlier turns of a connection that are remembered. */
const keptValues = 5000
const keptCharacters = 1024 * 1024
const placeholderForm = /\[([A-Z0-9_]+)_(\d+)\]/g
const beginningForm = /^\[[A-Z0-9_]*$/
/** Placeholders never reach such numbers, so longer ones that a client writes are never mistaken for one. */
const mostDigits = 15
/** In characters. */
export const longestPlaceholder = 100

/** Finds the highest number of placeholder-like texts of each label, and records it in `highest`. */
export function noteNumbers(text: string, highest: Map<string, number>): void {
  if (!text.includes('[')) return
  for (const [whole, label = '', digits = ''] of text.matchAll(placeholderForm))
    if (whole.length <= longestPlaceholder && digits.length <= mostDigits)
      highest.set(label, Math.max(highest.get(label) ?? 0, Number(digits)))
}

/** The highest number of placeholder-like texts of a label in a prompt, which is searched once for each label. */
export function highestIn(prompt: Buffer): (label: string) => number {
  let known: Map<string, number> | null = null
  return (label) => {
    known ??= new Map()
    return known.getOrInsertComputed(label, () => findHighest(prompt, `[${label}_`))
  }
}

function findHighest(prompt: Buffer, beginning: string): number {
  let highest = 0
  for (let at = prompt.indexOf(beginning); at >= 0; at = prompt.indexOf(beginning, at + 1)) {
    const from = at + beginning.length
    highest = Math.max(highest, Number.parseInt(prompt.toString('latin1', from, from + mostDigits), 10) || 0)
  }
  return highest
}

interface Replaced {
  /** By label and value, least recently used first. */
  placeholders: Map<string, string>
  originals: Map<string, string>
  restorer: Seeker
  /** The highest number of each label. */
  last: Map<string, number>
}

/** The placeholders of one request or connection, and what they stand for. The same value always has the same placeholder. */
export class Placeholders {
  /** Created on first use: few requests have any. */
  #values: Replaced | null = null
  readonly #highest: (label: string) => number

  /** `highest`: the highest number in the prompt itself. Placeholders begin above it. */
  constructor(highest: (label: string) => number) {
    this.#highest = highest
  }

  /** `[EMAIL_1]`. */
  mask(label: string, value: string, reversible: boolean): string {
    this.#values ??= nothingReplaced()
    const { placeholders, originals } = this.#values
    const key = `${label} ${value}`
    const placeholder = placeholders.get(key) ?? this.#next(label, this.#values)
    placeholders.delete(key)
    placeholders.set(key, placeholder)
    if (reversible) originals.set(placeholder, value)
    return placeholder
  }

  original(placeholder: string): string | undefined {
    return this.#values?.originals.get(placeholder)
  }

  /** Finds placeholders that are to be replaced by their values; null: there are none. */
  restorer(): Seeker | null {
    return this.#values === null || this.#values.originals.size === 0 ? null : this.#values.restorer
  }

  /** Forgets the least recently used values, if there are many. Their placeholders are never used for anything else. */
  trim(): void {
    if (this.#values === null) return
    const { placeholders, originals } = this.#values
    let values = placeholders.size
    let characters = 0
    for (const key of placeholders.keys()) characters += key.length
    for (const [key, placeholder] of placeholders) {
      if (values <= keptValues && characters <= keptCharacters) return
      placeholders.delete(key)
      originals.delete(placeholder)
      values--
      characters -= key.length
    }
  }

  #next(label: string, { placeholders, last }: Replaced): string {
    if (placeholders.size >= mostValues) throw new Error('there is too much to redact')
    const number = Math.max(last.get(label) ?? 0, this.#highest(label)) + 1
    last.set(label, number)
    return `[${label}_${number}]`
  }
}

function nothingReplaced(): Replaced {
  const originals = new Map<string, string>()
  return { placeholders: new Map(), originals, restorer: makeRestorer(originals), last: new Map() }
}

function makeRestorer(originals: ReadonlyMap<string, string>): Seeker {
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
      return beginningForm.test(rest) && [...originals.keys()].some((one) => one.startsWith(rest)) ? from : text.length
    },
    rest: null,
    inJson: null,
  }
}
