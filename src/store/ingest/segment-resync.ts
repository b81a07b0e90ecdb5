import { fstatSync, readSync } from 'node:fs'
import { entryHeaderBytes } from '../../core/journal-format.ts'
import { SegmentReader } from './segment-reader.ts'

const brace = 0x7b
const windowBytes = 1024 * 1024

/**
 * Where the next whole entry begins after bytes that are not one, or null. Every payload begins with a brace, and JSON
 * has no raw zero byte: so nothing within a payload looks like a header (whose length, below 2^24, has one), and no
 * client can place a false entry inside a real one.
 */
export function findNextEntry(file: number, offset: number): number | null {
  const { size } = fstatSync(file)
  const single = new SegmentReader({ bytes: 0, entries: 1 })
  const window = Buffer.allocUnsafe(windowBytes)
  for (let place = offset + 1; place + entryHeaderBytes < size; ) {
    const bytesRead = readSync(file, window, 0, windowBytes, place)
    for (const header of plausibleHeaders(window.subarray(0, bytesRead), size - place)) {
      const { entries } = single.readBatch(file, place + header)
      if (entries.length > 0) return place + header
    }
    // The last bytes of the window may be the beginning of a header.
    place += Math.max(1, bytesRead - entryHeaderBytes)
  }
  return null
}

/** Where a header could stand that a brace follows and that the file has room for. */
function* plausibleHeaders(window: Buffer, room: number): Generator<number> {
  for (let at = window.indexOf(brace, entryHeaderBytes); at !== -1; at = window.indexOf(brace, at + 1)) {
    const length = window.readUInt32LE(at - entryHeaderBytes)
    if (length > 1 && at + length <= room) yield at - entryHeaderBytes
  }
}
