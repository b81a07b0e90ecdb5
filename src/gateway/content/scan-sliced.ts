import { nextTurn } from '../../core/slices.ts'
import type { ArgumentsScan } from '../../policy/content/arguments-scan.ts'
import type { TextScan } from '../../policy/content/text-scan.ts'

/** Characters looked at before it is seen whether others should have their turn: 40 ms with the slowest pattern. */
const pieceLength = 4096
/** Of work. */
const turnMs = 10
/** A text costs as much as so many characters, however short it is. */
const textCost = 64

/** What becomes of a whole text, looked through with turns for others in between. */
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

/** Looks on to the end, with turns for others in between. */
export async function finishSliced(finder: { lookOn(): boolean }, turn: WorkTurn): Promise<void> {
  while (finder.lookOn()) if (turn.isDue(pieceLength)) await turn.next()
}

/** Counts work, so that others have their turn. */
export class WorkTurn {
  #work = 0
  #began = performance.now()

  /** The clock is asked only now and then: there may be many short texts. */
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

/** Work in steps; what it returns is the result. */
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

/** What the texts of one stream cost: at once as long as that is little, with turns for others in between where it is not. */
export class StreamWork {
  readonly #isOver: () => boolean
  /** Milliseconds worked since others had their turn. */
  #worked = 0

  /** `isOver`: nobody waits for the result any more. */
  constructor(isOver: () => boolean) {
    this.#isOver = isOver
  }

  /** A text of so many characters may be looked through at once, by `do`. */
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
