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

  /**
   * What must be made unreadable wherever it stands, in clear text: the value, and of a JSON document each of its own values. Short
   * ones are placeholders (`EMPTY`), and words.
   */
  parts(): string[] {
    return partsOf(this.#value)
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

function partsOf(value: string): string[] {
  const parts = value.startsWith('{') ? [...Object.values(readObject(value)), value] : [value]
  return parts.filter((part) => typeof part === 'string' && part.length >= shortest)
}

function readObject(text: string): Record<string, string> {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}
