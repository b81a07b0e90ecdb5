import { SlicedScan } from './json-scan.ts'
import { slicedBytes } from './known-spans.ts'
import { nextTurn } from './slices.ts'

/** Of a document of small values; a large text within it is passed in one go. Scanned in a few milliseconds. */
const sliceBytes = 2 * 1024 * 1024

/** Whether a document is worth a look before it is read; all others are read in one go. */
export function isLarge(bytes: Buffer): boolean {
  return bytes.length >= slicedBytes
}

/** Goes over a large document in slices. Those who read it afterwards skip by what was found. */
export async function scanInSlices(bytes: Buffer): Promise<void> {
  const scan = new SlicedScan(bytes)
  while (!scan.advance(sliceBytes)) await nextTurn()
}
