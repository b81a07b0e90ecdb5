import {
  addBatchAsk,
  type BatchAsk,
  type BatchInput,
  type HeldInput,
  resumeBatchAsks,
} from '../../core/objects/batch-input.ts'
import type { ObjectName } from '../../core/objects/stored-object.ts'
import { LineScanner } from '../../core/text/line-scan.ts'
import type { LineReader } from '../../lanes/line-readers.ts'

/** A longer line is not read: each line is held, and parsed in one go. */
const lineBytes = 4 * 1024 * 1024
/** Each model is checked against policies and routes when a batch is created. */
const mostModels = 50
/** One look-up finds them all, including the file itself (`find-owner.ts`). */
const mostObjects = 900
/** The total length of all names, which the journal stores. */
const mostCharacters = 64 * 1024

const openBrace = 0x7b
/** Bytes at which other parsers begin a new line. JSON allows none of them inside a string: VT, FF, FS, GS, RS. */
const otherLineEnds = [0x0b, 0x0c, 0x1c, 0x1d, 0x1e]
const carriageReturn = 0x0d
/** JSON allows these inside strings, but some parsers begin a line at them all the same: NEL, LS, PS. */
const textLineEnds = ['\u0085', '\u2028', '\u2029'].map((text) => Buffer.from(text))

/** Reads the lines of a batch's input file while its bytes pass unchanged. */
export class InputScan {
  readonly #reader: LineReader
  readonly #lines = new LineScanner(lineBytes, (line) => this.#read(line))
  readonly #input: BatchInput
  readonly #models: Set<string>
  readonly #objects: Map<string, ObjectName>
  readonly #asks: Map<string, BatchAsk>
  #characters: number
  #offset: number
  /** Nothing more has to be read: the file has no lines of JSON, or something in it cannot be known. */
  #over: boolean
  #begun: boolean

  constructor(reader: LineReader, held: HeldInput | null = null) {
    this.#reader = reader
    this.#input = held?.input ?? { lines: 0, models: [], objects: [], unread: null }
    this.#models = new Set(this.#input.models)
    this.#objects = new Map(this.#input.objects.map((name) => [keyOf(name), name]))
    this.#asks = resumeBatchAsks(this.#input.asks ?? [])
    this.#characters = [...this.#models, ...this.#objects.keys()].join('').length
    this.#offset = held?.offset ?? 0
    this.#over = this.#input.unread !== null
    this.#begun = this.#offset > 0
    if (held !== null) this.#lines.add(Buffer.from(held.rest))
  }

  add(chunk: Buffer): void {
    this.#offset += chunk.length
    if (this.#over) return
    if (!this.#begun) this.#begin(chunk)
    if (this.#over) return
    this.#lines.add(chunk)
    if (this.#lines.skipped > 0) this.refuse(`line ${this.#input.lines + 1} is longer than ${lineBytes} bytes`)
  }

  /** The whole file has arrived; null if it is not a file of JSON lines. */
  end(): BatchInput | null {
    if (!this.#over) this.#lines.end()
    return this.#begun ? this.#result() : null
  }

  /** The file continues in another call. */
  hold(): HeldInput {
    if (!this.#begun && this.#over) this.refuse('it does not begin with a JSON object')
    const rest = this.#over ? new Uint8Array() : this.#lines.rest()
    return { offset: this.#offset, input: this.#result(), rest }
  }

  /** Records why the file cannot be used for a batch. */
  refuse(reason: string): void {
    this.#input.unread ??= reason
    this.#over = true
  }

  #result(): BatchInput {
    const { lines, unread } = this.#input
    if (unread !== null) return { lines, models: [], objects: [], unread }
    const [models, objects, asks] = [[...this.#models], [...this.#objects.values()], [...this.#asks.values()]]
    return { lines, models, objects, unread, asks }
  }

  /** Sound, images, documents and other files are not read. */
  #begin(chunk: Buffer): void {
    const first = chunk.find((byte) => byte > 0x20)
    if (first === undefined) return
    this.#begun = first === openBrace
    this.#over = !this.#begun
  }

  #read(line: Buffer): void {
    if (this.#over || isBlank(line)) return
    const number = ++this.#input.lines
    const found = endsElsewhere(line)
      ? 'it holds a character at which another reader would begin a line'
      : this.#reader(line)
    if (typeof found === 'string') return this.refuse(`line ${number}: ${found}`)
    for (const model of found.models) {
      if (!this.#models.has(model)) this.#characters += model.length
      this.#models.add(model)
    }
    for (const name of found.objects) {
      const key = keyOf(name)
      if (!this.#objects.has(key)) this.#characters += key.length
      this.#objects.set(key, name)
    }
    addBatchAsk(this.#asks, found.ask)
    if (this.#models.size > mostModels) this.refuse(`it names more than ${mostModels} models`)
    if (this.#objects.size > mostObjects || this.#characters > mostCharacters)
      this.refuse(`it names more than ${mostObjects} objects`)
  }
}

function keyOf({ type, id }: ObjectName): string {
  return `${type} ${id}`
}

function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte <= 0x20)
}

function endsElsewhere(line: Buffer): boolean {
  const last = line.length - 1
  const returned = line.indexOf(carriageReturn)
  if ((returned >= 0 && returned < last) || otherLineEnds.some((byte) => line.includes(byte))) return true
  return textLineEnds.some((end) => beginsAnother(line, end))
}

/** Whether what follows one of these characters could be a line by itself. */
function beginsAnother(line: Buffer, end: Buffer): boolean {
  for (let at = line.indexOf(end); at >= 0; at = line.indexOf(end, at + 1)) {
    let next = at + end.length
    while (next < line.length && (line[next] ?? 0) <= 0x20) next++
    if (line[next] === openBrace) return true
  }
  return false
}
