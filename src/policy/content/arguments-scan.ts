import type { ReadyRule } from './compile.ts'
import { type ScanContext, TextScan } from './text-scan.ts'

const backslash = '\\'
const quote = '"'
const shortEscapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }
/** Brackets, colon, comma and white space end a number or a word. */
const structure = /[{}[\]:,\s]/

/**
 * Applies rules to JSON that comes in pieces: to the value of each string, however it is escaped, and to each number. The output is JSON of
 * the same shape, and unchanged parts keep their spelling.
 */
export class ArgumentsScan {
  readonly #context: ScanContext
  readonly #shortest: number
  #text: TextScan | null = null
  #number = ''
  /** The beginning of an escape that is not complete yet. */
  #escape = ''
  #blocked = false

  constructor(context: ScanContext) {
    this.#context = context
    this.#shortest = shortestArgument(context.rules)
  }

  get held(): number {
    return this.#text?.held ?? 0
  }

  push(json: string): string {
    let out = ''
    let meaning = ''
    let units: string[] = []
    const pass = (text: TextScan) => {
      out += text.push(meaning, units)
      meaning = ''
      units = []
    }
    for (let at = 0; at < json.length && !this.#blocked; at++) {
      const character = json[at] ?? ''
      const text = this.#text
      if (text === null) {
        out += this.#outside(character)
        continue
      }
      if (this.#escape !== '' || character === backslash) {
        this.#escape += character
        const meant = readEscape(this.#escape)
        if (meant === null) continue
        meaning += meant
        units.push(...unitsOf(this.#escape, meant.length))
        this.#escape = ''
      } else if (character === quote) {
        pass(text)
        out += this.#endText(text) + quote
      } else {
        meaning += character
        units.push(character)
      }
    }
    if (this.#text !== null) pass(this.#text)
    this.#blocked ||= this.#text?.blocked === true
    return this.#blocked ? '' : out
  }

  /** Scans JSON that is already complete. */
  whole(json: string): string {
    return this.push(json) + this.end()
  }

  end(): string {
    const out = this.#text === null ? this.#endNumber() : this.#endText(this.#text) + this.#escape
    this.#escape = ''
    return this.#blocked ? '' : out
  }

  #outside(character: string): string {
    if (character === quote) {
      const before = this.#endNumber()
      this.#text = new TextScan(this.#context, encodeJson)
      return before + quote
    }
    if (structure.test(character)) return this.#endNumber() + character
    this.#number += character
    return this.#number.length > longestNumber ? this.#endNumber() : ''
  }

  #endText(text: TextScan): string {
    const out = text.end()
    this.#blocked ||= text.blocked
    this.#text = null
    return out
  }

  /** A number that is replaced becomes a string. */
  #endNumber(): string {
    const number = this.#number
    this.#number = ''
    if (number.length < this.#shortest) return number
    const text = new TextScan(this.#context)
    const out = text.push(number) + text.end()
    this.#blocked ||= text.blocked
    return out === number ? number : JSON.stringify(out)
  }
}

/** A scan for a plain text, or for JSON in a text. */
export function scanFor({ isJson }: { isJson: boolean }, context: ScanContext): TextScan | ArgumentsScan {
  return isJson ? new ArgumentsScan(context) : new TextScan(context)
}

/** Shorter numbers match no detector, and they are very common. */
export const shortestNumber = 4
/** The same for arguments of tools: a pattern may match numbers of any length. */
export const shortestArgument = (rules: readonly Pick<ReadyRule, 'rule'>[]): number =>
  rules.some(({ rule }) => rule.pattern !== null) ? 1 : shortestNumber
const longestNumber = 4096

/** The text as it is written between quotes. */
export function encodeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** The written form of each character: an escape is one unit, unless it is invalid. */
function unitsOf(written: string, meant: number): readonly string[] {
  return meant === 1 ? [written] : [written.slice(0, 2), ...written.slice(2)]
}

/** null: the escape is not complete. An invalid one stands for itself. */
function readEscape(written: string): string | null {
  const kind = written[1]
  if (kind === undefined) return null
  if (kind !== 'u') return shortEscapes[kind] ?? kind
  if (written.length < 6) return /^\\u[0-9A-Fa-f]*$/.test(written) ? null : written.slice(1)
  return String.fromCharCode(Number.parseInt(written.slice(2), 16) || 0)
}
