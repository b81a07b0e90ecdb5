import { closeSync, existsSync, openSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import {
  entryHeaderBytes,
  formatSegmentName,
  type JournalEntry,
  type SegmentName,
} from '../../src/core/journal-format.ts'

export function encodeEntry(entry: JournalEntry): Buffer {
  return encodePayload(Buffer.from(JSON.stringify(entry)))
}

export function encodePayload(payload: Buffer): Buffer {
  const header = Buffer.alloc(entryHeaderBytes)
  header.writeUInt32LE(payload.length, 0)
  header.writeUInt32LE(crc32(payload), 4)
  return Buffer.concat([header, payload])
}

/** A segment as the gateway writes it, but small: preallocated with zeros, entries one after another. */
export class JournalWriter {
  readonly path: string
  readonly file: string
  offset = 0

  constructor(directory: string, name: SegmentName, bytes = 64 * 1024) {
    this.file = formatSegmentName(name)
    this.path = join(directory, this.file)
    if (existsSync(this.path)) return
    closeSync(openSync(this.path, 'w', 0o600))
    truncateSync(this.path, bytes)
  }

  write(...entries: JournalEntry[]): void {
    for (const entry of entries) this.writeBytes(encodeEntry(entry))
  }

  writeBytes(bytes: Buffer): void {
    const file = openSync(this.path, 'r+')
    writeSync(file, bytes, 0, bytes.length, this.offset)
    closeSync(file)
    this.offset += bytes.length
  }
}
