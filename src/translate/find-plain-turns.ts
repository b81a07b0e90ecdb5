import { isUtf8 } from 'node:buffer'
import { type PlainForms, PlainTurns } from './plain-turns.ts'

/** Shorter runs are not worth a piece of their own. */
const leastTurns = 4

const [quote, backslash, comma, space] = [0x22, 0x5c, 0x2c, 0x20]
/** Characters that JSON writes after a backslash in only one way. */
const plainEscapes = new Uint8Array(256)
for (const letter of '"\\bfnrt') plainEscapes[letter.charCodeAt(0)] = 1

/** Plain turns, and where they are. */
export interface FoundTurns {
  turns: PlainTurns
  /** In the list of messages. */
  index: number
  /** In the bytes. */
  start: number
  end: number
}

/**
 * For each message in a run: where its text begins and ends, and its number of escapes. Allocated once, since a run is filled in one go.
 */
class TextRow {
  #numbers = new Uint32Array(3 * 256)

  set(index: number, start: number, end: number): void {
    if (3 * index === this.#numbers.length) {
      const longer = new Uint32Array(2 * this.#numbers.length)
      longer.set(this.#numbers)
      this.#numbers = longer
    }
    this.#numbers[3 * index] = start
    this.#numbers[3 * index + 1] = end
    this.#numbers[3 * index + 2] = escapes
  }

  take(from: number, to: number): { texts: Uint32Array; textBytes: number } {
    const texts = new Uint32Array(2 * (to - from))
    let textBytes = 0
    for (let index = from; index < to; index++) {
      const start = this.#numbers[3 * index] ?? 0
      const end = this.#numbers[3 * index + 1] ?? 0
      textBytes += end - start - (this.#numbers[3 * index + 2] ?? 0)
      texts[2 * (index - from)] = start
      texts[2 * (index - from) + 1] = end
    }
    return { texts, textBytes }
  }
}

const row = new TextRow()

/** Finds runs of plain turns while the document is scanned; the scanner asks it about each message. */
export class PlainTurnFinder {
  readonly #bytes: Buffer
  readonly #forms: PlainForms
  readonly #found: FoundTurns[] = []
  /** For the messages in the run: the pair of frames they have, whether the last one was an answer, and how many there are. */
  #pair = -1
  #endsInAnswer = false
  #count = 0
  #firstIndex = 0
  /** The index after the last one. */
  #end = -1

  constructor(bytes: Buffer, forms: PlainForms) {
    this.#bytes = bytes
    this.#forms = forms
  }

  /** Whether the list that begins here, at the top of the document, is the list of messages. */
  isList(at: number): boolean {
    const before = this.#bytes.toString('latin1', Math.max(0, at - this.#forms.list.length - 5), at)
    return before.endsWith(`"${this.#forms.list}":`) || before.endsWith(`"${this.#forms.list}": `)
  }

  /** The index after the message at `at`, which has the given index in its list; -1: the message is not plain. */
  pass(at: number, index: number): number {
    if (this.#end >= 0 && this.#continues(at)) {
      const end = this.#passAs(at, this.#pair, !this.#endsInAnswer)
      if (end >= 0) return end
    }
    this.finish()
    for (let pair = 0; pair < this.#forms.pairs.length; pair++)
      for (const isAnswer of [false, true]) {
        this.#firstIndex = index
        const end = this.#passAs(at, pair, isAnswer)
        if (end >= 0) return end
      }
    return -1
  }

  #continues(at: number): boolean {
    const between = at - this.#end
    if (this.#bytes[this.#end] !== comma) return false
    return between === 1 || (between === 2 && this.#bytes[this.#end + 1] === space)
  }

  #passAs(at: number, pair: number, isAnswer: boolean): number {
    const frames = this.#forms.pairs[pair]
    const frame = isAnswer ? frames?.assistant : frames?.user
    if (frame === undefined || !hasBytes(this.#bytes, at, frame.before)) return -1
    const start = at + frame.before.length
    const passed = passText(this.#bytes, start)
    if (passed < 0 || !hasBytes(this.#bytes, passed, frame.after)) return -1
    this.#pair = pair
    this.#endsInAnswer = isAnswer
    row.set(this.#count++, start, passed)
    this.#end = passed + frame.after.length
    return this.#end
  }

  /** The run has ended: records it, without the messages that stay as its neighbours. */
  finish(): void {
    if (this.#end < 0) return
    const count = this.#count
    const beginsWithAnswer = this.#endsInAnswer === (count % 2 === 1)
    const from = beginsWithAnswer ? 1 : 2
    const to = this.#endsInAnswer ? count - 2 : count - 1
    if (to - from >= leastTurns) this.#take(from, to)
    this.#end = -1
    this.#count = 0
  }

  #take(from: number, to: number): void {
    const frames = this.#forms.pairs[this.#pair]
    if (frames === undefined) return
    const { texts, textBytes } = row.take(from, to)
    this.#found.push({
      turns: new PlainTurns(this.#bytes, texts, textBytes, this.#found.length),
      index: this.#firstIndex + from,
      start: (texts[0] ?? 0) - frames.user.before.length,
      end: (texts.at(-1) ?? 0) + frames.assistant.after.length,
    })
  }

  /** None if some byte could be read in another way. */
  get found(): readonly FoundTurns[] {
    this.finish()
    return this.#found.length > 0 && isUtf8(this.#bytes) ? this.#found : []
  }
}

function hasBytes(bytes: Buffer, at: number, wanted: Buffer): boolean {
  for (let index = 0; index < wanted.length; index++) if (bytes[at + index] !== wanted[index]) return false
  return true
}

/** Of the last text that was passed. */
let escapes = 0

/**
 * The index of the quote that ends a text, if writing it again gives the same bytes; -1: it would not, or the text does not begin visibly.
 */
function passText(bytes: Buffer, start: number): number {
  escapes = 0
  if (!beginsVisibly(bytes, start)) return -1
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    if (byte === quote) return at
    if (byte < space) return -1
    if (byte !== backslash) continue
    at++
    escapes++
    if (plainEscapes[bytes[at] ?? 0] !== 1) return -1
  }
  return -1
}

/** Providers reject texts of white space only; a text that begins with a visible character is none. */
function beginsVisibly(bytes: Buffer, at: number): boolean {
  const [first = 0, second = 0] = [bytes[at], bytes[at + 1]]
  if (first === backslash) return second === quote || second === backslash
  if (first < 0x7f) return first > space && first !== quote
  // UTF-8 spaces begin with these bytes.
  if (first === 0xe3) return second !== 0x80
  return first > 0xc2 && first !== 0xe1 && first !== 0xe2 && first !== 0xef
}
