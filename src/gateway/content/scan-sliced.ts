import { nextTurn } from '../../core/threads/slices.ts'
import type { ArgumentsScan } from '../../policy/content/arguments-scan.ts'
import type { TextScan } from '../../policy/content/text-scan.ts'

/** Characters that are scanned between two looks at the clock: 40 ms with the slowest pattern. */
const pieceLength = 4096
/** Work before others get their turn. */
const turnMs = 10
/** Even the shortest text counts as this many characters. */
const textCost = 64

/** Applies a scan to a whole text, yielding to other requests. */
export async function scanSliced(text: string, scan: TextScan | ArgumentsScan, turn: WorkTurn): Promise<string> {
  if (turn.isDue(textCost + Math.min(text.length, pieceLength))) await turn.next()
  if (text.length <= pieceLength) return scan.whole(text)
  let out = ''
  for (let from = 0; from < text.length; from += pieceLength) {
    out += scan.push(text.slice(from, from + pieceLength))
    if (turn.isDue(pieceLength)) await turn.next()
  }
  return out + scan.end()
}

/** Runs `finder` to its end, yielding to other requests. */
export async function finishSliced(finder: { lookOn(): boolean }, turn: WorkTurn): Promise<void> {
  while (finder.lookOn()) if (turn.isDue(pieceLength)) await turn.next()
}

/** Counts work, and says when others should have their turn. */
export class WorkTurn {
  #work = 0
  #began = performance.now()

  /** The clock is read only now and then: there may be many short texts. */
  isDue(length: number): boolean {
    this.#work += length
    if (this.#work < pieceLength) return false
    this.#work = 0
    return performance.now() - this.#began > turnMs
  }

  async next(): Promise<void> {
    await nextTurn()
    this.#began = performance.now()
  }
}

/** Work in steps; the generator's return value is the result. */
export type ScanSteps<Result> = Generator<void, Result>

/** A whole text, step by step. */
export function* scanWhole(text: string, scan: TextScan | ArgumentsScan): ScanSteps<string> {
  if (text.length <= pieceLength) return scan.whole(text)
  return (yield* pushPieces(text, scan)) + scan.end()
}

/** A piece of a text of any length. */
export function* pushPieces(text: string, scan: TextScan | ArgumentsScan): ScanSteps<string> {
  if (text.length <= pieceLength) return scan.push(text)
  let out = ''
  for (let from = 0; from < text.length; from += pieceLength) {
    out += scan.push(text.slice(from, from + pieceLength))
    yield
  }
  return out
}

/** Work on the texts of one stream: done at once while it is little, otherwise yielding to other requests. */
export class StreamWork {
  readonly #isOver: () => boolean
  /** Milliseconds of work since the last yield. */
  #worked = 0

  /** `isOver`: nobody waits for the result any more. */
  constructor(isOver: () => boolean) {
    this.#isOver = isOver
  }

  /** Whether a text of this many characters may be scanned at once. */
  allows(length: number): boolean {
    return length <= pieceLength && this.#worked <= turnMs
  }

  do<Result>(work: () => Result): Result {
    const began = performance.now()
    const result = work()
    this.#worked += performance.now() - began
    return result
  }

  run<Result>(steps: ScanSteps<Result>): Result | null | Promise<Result | null> {
    while (this.#worked <= turnMs) {
      const { done, value } = this.do(() => steps.next())
      if (done === true) return value
    }
    return this.#later(steps)
  }

  async #later<Result>(steps: ScanSteps<Result>): Promise<Result | null> {
    await nextTurn()
    this.#worked = 0
    return this.#isOver() ? null : await this.run(steps)
  }
}
