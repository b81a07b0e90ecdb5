const shortest = 12

/**
 * A value that cannot be printed: string conversion, JSON and `util.inspect` all show `***`.
 * It does not survive a structured clone, so each thread wraps what it receives.
 */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** The clear text. Call it only where the value leaves for its one purpose (a provider's header, a seal). */
  reveal(): string {
    return this.#value
  }

  /** The text with the value made unreadable, wherever it stands. Short values are placeholders (`EMPTY`), and words. */
  maskIn(text: string): string {
    return this.#value.length < shortest ? text : text.replaceAll(this.#value, '***')
  }

  toString(): string {
    return '***'
  }

  toJSON(): string {
    return '***'
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '***'
  }
}
