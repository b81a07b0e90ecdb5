import { nextTurn } from '../threads/slices.ts'
import { isSpace, maximumValues, type SlicedWalk, startWalk, walkOn } from './json-walk.ts'
import { KnownSpans, rememberSpans } from './known-spans.ts'

/** Scanned in a few milliseconds. */
const sliceBytes = 2 * 1024 * 1024

/** Goes over a document of `slicedBytes` or more in slices. Those who read it afterwards skip by what was found. */
export async function scanInSlices(bytes: Buffer): Promise<void> {
  const scan = new SlicedScan(bytes)
  while (!scan.advance(sliceBytes)) await nextTurn()
}

/**
 * A scan of a large document that goes on where it was left, so that others have their turn in between. What it finds is remembered
 * for the scans that follow, of all of it or of parts.
 */
export class SlicedScan {
  readonly #bytes: Buffer
  /** The document itself is no value in an object. */
  readonly #walk: SlicedWalk = { ...startWalk(), spans: new KnownSpans(), valuesLeft: maximumValues + 1 }

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** Scans about so many bytes more; true: that was all. */
  advance(most: number): boolean {
    const { spans, index } = this.#walk
    if (!spans.findSpaces(this.#bytes, most, isSpace)) return false
    if (!walkOn(this.#bytes, this.#walk, index + most)) return false
    rememberSpans(this.#bytes, spans)
    return true
  }
}
