import { SlicedScan } from './json-walk.ts'
import { nextTurn } from './slices.ts'

/** Of a document of small values; a large text within it is passed in one go. Scanned in a few milliseconds. */
const sliceBytes = 2 * 1024 * 1024

/** Goes over a document of `slicedBytes` or more in slices. Those who read it afterwards skip by what was found. */
export async function scanInSlices(bytes: Buffer): Promise<void> {
  const scan = new SlicedScan(bytes)
  while (!scan.advance(sliceBytes)) await nextTurn()
}
