import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { entryHeaderBytes, type JournalEntry } from '../core/journal-format.ts'

export interface Batch {
  entries: JournalEntry[]
  /** Where the next batch begins: after the last whole entry. */
  offset: number
  /** `more`: read on. `end`: nothing more is written. `torn`: the next entry is not whole, or not an entry. */
  stop: 'more' | 'end' | 'torn'
}

export interface BatchLimits {
  bytes: number
  entries: number
}

const defaultLimits: BatchLimits = { bytes: 1024 * 1024, entries: 500 }

/** The next whole entries of a segment from `offset` on. */
export async function readBatch(file: FileHandle, offset: number, limits: BatchLimits = defaultLimits): Promise<Batch> {
  const { size } = await file.stat()
  const first = await readBytes(file, offset, entryHeaderBytes)
  if (first.length < entryHeaderBytes)
    return { entries: [], offset, stop: first.some((byte) => byte !== 0) ? 'torn' : 'end' }
  const needed = entryHeaderBytes + first.readUInt32LE(0)
  // A length that the file cannot hold is not worth the memory that it asks for.
  if (offset + needed > size) return { entries: [], offset, stop: 'torn' }
  const window = await readBytes(file, offset, Math.max(limits.bytes, needed))
  return parseEntries(window, offset, limits.entries, offset + window.length >= size)
}

/** `last`: the window reaches the file's end, so what is cut off there is torn and not merely outside the window. */
export function parseEntries(window: Buffer, offset: number, most: number, last: boolean): Batch {
  const entries: JournalEntry[] = []
  let position = 0
  const stop = (reason: Batch['stop']): Batch => ({ entries, offset: offset + position, stop: reason })
  while (entries.length < most) {
    if (window.length - position < entryHeaderBytes) {
      if (!last) return stop('more')
      return stop(window.subarray(position).some((byte) => byte !== 0) ? 'torn' : 'end')
    }
    const length = window.readUInt32LE(position)
    if (length === 0) return stop('end')
    const payload = window.subarray(position + entryHeaderBytes, position + entryHeaderBytes + length)
    if (payload.length < length) return stop(last ? 'torn' : 'more')
    const entry = crc32(payload) === window.readUInt32LE(position + 4) ? parseEntry(payload) : null
    if (entry === null) return stop('torn')
    entries.push(entry)
    position += entryHeaderBytes + length
  }
  return stop('more')
}

/** Whether anything but zeros stands from `offset` on. */
export async function hasRest(file: FileHandle, offset: number): Promise<boolean> {
  for (let position = offset; ; ) {
    const bytes = await readBytes(file, position, defaultLimits.bytes)
    if (bytes.length === 0) return false
    if (bytes.some((byte) => byte !== 0)) return true
    position += bytes.length
  }
}

async function readBytes(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length)
  const { bytesRead } = await file.read(buffer, 0, length, offset)
  return buffer.subarray(0, bytesRead)
}

/** Null for what no writer of ours wrote: the checksum is right, the content is not. */
function parseEntry(payload: Buffer): JournalEntry | null {
  try {
    const entry: unknown = JSON.parse(payload.toString('utf8'))
    return isEntry(entry) ? entry : null
  } catch {
    return null
  }
}

function isEntry(entry: unknown): entry is JournalEntry {
  if (typeof entry !== 'object' || entry === null || !('kind' in entry)) return false
  if (entry.kind === 'repeated') {
    return (
      'id' in entry &&
      typeof entry.id === 'string' &&
      'count' in entry &&
      typeof entry.count === 'number' &&
      'lastTime' in entry &&
      isTime(entry.lastTime)
    )
  }
  if (entry.kind !== 'admitted' && entry.kind !== 'settled') return false
  if (!('record' in entry) || typeof entry.record !== 'object' || entry.record === null) return false
  const { record } = entry
  return 'id' in record && typeof record.id === 'string' && 'time' in record && isTime(record.time)
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value))
}
