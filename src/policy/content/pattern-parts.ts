/** What a pattern's source tells about its matches. */
export interface PatternParts {
  /** A pattern that also matches every beginning of a match that ends with the text. */
  partial: string
  /** A string that is in every match; '' if none is known. */
  literal: string
  /** The number of atoms and groups with all repetitions written out: the cost of compiling it and, at worst, of searching. */
  weight: number
}

const zeroWidth = new Set(['b', 'B', 'A', 'z'])
const escapeForm = /\\(?:x\{[0-9A-Fa-f]+\}|x[0-9A-Fa-f]{2}|[pP]\{[^}]*\}|[pP].|[0-7]{1,3}|Q(?:(?!\\E).)*(?:\\E|$)|.)/suy
const quantifier = /(?:[*+?]|\{\d+(?:,\d*)?\})\??/y
const groupOpening = /\((?:\?(?:P?<\w+>|[a-zA-Z-]*:))?/y
const flagsOnly = /\(\?[a-zA-Z-]+\)/y

/**
 * Rewrites a pattern of RE2 syntax so that each of its atoms may also be the end of the text: `ab+` becomes `(?:a|\z)(?:b|\z)+`. Its
 * matches at the end of a text are those that could still grow. The engine has already checked the pattern's syntax.
 */
export function readPattern(pattern: string): PatternParts {
  return new PatternReader(pattern).read()
}

class PatternReader {
  readonly #pattern: string
  #at = 0
  #depth = 0
  #run = ''
  #literal = ''
  #mayDiffer = false
  #weight = 0

  constructor(pattern: string) {
    this.#pattern = pattern
  }

  read(): PatternParts {
    const partial = this.#alternatives()
    this.#endRun()
    return { partial, literal: this.#mayDiffer ? '' : this.#literal, weight: this.#weight }
  }

  #alternatives(): string {
    let written = ''
    while (this.#at < this.#pattern.length) {
      const next = this.#pattern[this.#at]
      if (next === ')') break
      if (next === '|') {
        if (this.#depth === 0) this.#mayDiffer = true
        written += '|'
        this.#at++
      } else written += this.#item()
    }
    return written
  }

  #item(): string {
    const flags = this.#take(flagsOnly)
    if (flags !== null) {
      this.#mayDiffer = true
      return flags
    }
    if (this.#pattern[this.#at] === '(') return this.#group()
    if (this.#pattern[this.#at] === '[') return this.#quantified(this.#characterClass(), null)
    if (this.#pattern[this.#at] === '\\') return this.#escape()
    const point = String.fromCodePoint(this.#pattern.codePointAt(this.#at) ?? 0)
    this.#at += point.length
    if (point === '^') return '^'
    if (point === '$') return '(?:$|\\z)'
    return this.#quantified(point, point === '.' ? null : point)
  }

  #group(): string {
    const opening = this.#take(groupOpening) ?? '('
    const flags = /^\(\?[a-zA-Z-]*:$/.test(opening) ? opening : '(?:'
    this.#endRun()
    this.#depth++
    const outside = this.#weight
    this.#weight = 1
    const inner = this.#alternatives()
    this.#depth--
    this.#at++
    this.#endRun()
    const many = this.#take(quantifier) ?? ''
    this.#weight = outside + this.#weight * timesOf(many)
    return `${flags}${inner})${many}`
  }

  #escape(): string {
    const escaped = this.#take(escapeForm) ?? this.#pattern[this.#at++] ?? ''
    const kind = escaped[1] ?? ''
    if (kind === 'Q') {
      const quoted = [...escaped.slice(2).replace(/\\E$/, '')]
      return quoted.map((point) => this.#quantified(`\\x{${point.codePointAt(0)?.toString(16)}}`, point)).join('')
    }
    if (zeroWidth.has(kind)) return kind === 'b' || kind === 'B' ? `(?:${escaped}|\\z)` : escaped
    return this.#quantified(escaped, /[0-9A-Za-z]/.test(kind) ? null : kind)
  }

  /** Reads up to the closing bracket; a bracket in first position is a character. */
  #characterClass(): string {
    const start = this.#at
    this.#at++
    if (this.#pattern[this.#at] === '^') this.#at++
    for (let first = true; this.#at < this.#pattern.length; first = false) {
      const next = this.#pattern[this.#at]
      if (next === ']' && !first) break
      if (next === '\\') this.#take(escapeForm)
      else if (next === '[' && this.#pattern[this.#at + 1] === ':')
        this.#at = Math.max(this.#at, this.#pattern.indexOf(':]', this.#at + 2)) + 2
      else this.#at++
    }
    this.#at++
    return this.#pattern.slice(start, this.#at)
  }

  /** `plain`: the only character that the atom matches. */
  #quantified(atom: string, plain: string | null): string {
    const many = this.#take(quantifier) ?? ''
    this.#weight += timesOf(many)
    if (this.#depth === 0) {
      if (plain === null || many !== '') this.#endRun()
      else this.#run += plain
    }
    return `(?:${atom}|\\z)${many}`
  }

  #endRun(): void {
    if (this.#run.length > this.#literal.length) this.#literal = this.#run
    this.#run = ''
  }

  #take(form: RegExp): string | null {
    form.lastIndex = this.#at
    const found = form.exec(this.#pattern)?.[0] ?? null
    if (found !== null) this.#at += found.length
    return found
  }
}

/** How many copies of its atom a quantifier expands to. */
function timesOf(many: string): number {
  const [, least = '1', most = ''] = /^\{(\d+)(?:,(\d*))?\}/.exec(many) ?? []
  return Math.max(1, Number(least), Number(most))
}
