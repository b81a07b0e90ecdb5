import { fstatSync, readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { type BookedAmount, entryHeaderBytes, type JournalEntry } from '../../core/journal-format.ts'
import { isEntry } from './entry-form.ts'

/** An entry where it stands. Its bytes are good until the next batch is read. */
export interface FoundEntry {
  /**
   * `unknown`: complete, but not of this gateway's making; its id is empty. The store refuses it, and it holds nothing
   * up.
   */
  kind: JournalEntry['kind'] | 'unknown'
  id: string
  /** The payload, from `begin` to `end` of what was read. */
  window: Buffer
  begin: number
  end: number
  /** The payload is the record between the two ends that the gateway writes. */
  plain: boolean
  /** Where the record begins behind what budgets count; null: it is plain, or none. */
  record: number | null
}

export interface Batch {
  entries: FoundEntry[]
  /** Where the next batch begins: after the last whole entry. */
  offset: number
  /** `more`: read on. `end`: nothing more is written. `torn`: the next entry is not whole, or not an entry. */
  stop: 'more' | 'end' | 'torn'
}

export interface BatchLimits {
  bytes: number
  entries: number
}

/** Stored in one transaction: some hundred requests, and a few milliseconds. */
const defaultLimits: BatchLimits = { bytes: 4 * 1024 * 1024, entries: 4000 }

/** Reads segments through one buffer, used again for every batch. */
export class SegmentReader {
  readonly #limits: BatchLimits
  #buffer: Buffer = Buffer.alloc(0)

  constructor(limits: BatchLimits = defaultLimits) {
    this.#limits = limits
  }

  /** The next whole entries of an open file from `offset` on. */
  readBatch(file: number, offset: number): Batch {
    const first = this.#read(file, offset, entryHeaderBytes)
    if (first.length < entryHeaderBytes)
      return { entries: [], offset, stop: first.some((byte) => byte !== 0) ? 'torn' : 'end' }
    const length = first.readUInt32LE(0)
    if (length === 0) return { entries: [], offset, stop: 'end' }
    const { size } = fstatSync(file)
    const needed = entryHeaderBytes + length
    // No memory is taken for a length that the file cannot hold.
    if (offset + needed > size) return { entries: [], offset, stop: 'torn' }
    const window = this.#read(file, offset, Math.max(this.#limits.bytes, needed))
    return findEntries(window, offset, this.#limits.entries, offset + window.length >= size)
  }

  /** Whether anything but zeros stands from `offset` on. */
  hasRest(file: number, offset: number): boolean {
    for (let position = offset; ; ) {
      const bytes = this.#read(file, position, this.#limits.bytes)
      if (bytes.length === 0) return false
      if (!areZeros(bytes)) return true
      position += bytes.length
    }
  }

  #read(file: number, offset: number, length: number): Buffer {
    const buffer = this.#room(length)
    return buffer.subarray(0, readSync(file, buffer, 0, length, offset))
  }

  /** A larger entry gets memory of its own, which is not kept. */
  #room(length: number): Buffer {
    if (length > this.#limits.bytes) return Buffer.allocUnsafeSlow(length)
    if (this.#buffer.length === 0) this.#buffer = Buffer.allocUnsafeSlow(this.#limits.bytes)
    return this.#buffer
  }
}

/** The first byte is zero, and each equals the one before it: one comparison, since a loop takes 20 ms a megabyte. */
function areZeros(bytes: Buffer): boolean {
  return bytes[0] === 0 && bytes.compare(bytes, 0, bytes.length - 1, 1) === 0
}

/** `last`: the window reaches the file's end, so what is cut off there is torn and not merely outside the window. */
export function findEntries(window: Buffer, offset: number, most: number, last: boolean): Batch {
  const entries: FoundEntry[] = []
  let position = 0
  const stop = (reason: Batch['stop']): Batch => ({ entries, offset: offset + position, stop: reason })
  while (entries.length < most) {
    if (window.length - position < entryHeaderBytes) {
      if (!last) return stop('more')
      return stop(window.subarray(position).some((byte) => byte !== 0) ? 'torn' : 'end')
    }
    const length = window.readUInt32LE(position)
    if (length === 0) return stop('end')
    const begin = position + entryHeaderBytes
    if (window.length - begin < length) return stop(last ? 'torn' : 'more')
    const end = begin + length
    if (crc32(window.subarray(begin, end)) !== window.readUInt32LE(position + 4)) return stop('torn')
    entries.push(recognise(window, begin, end))
    position = end
  }
  return stop('more')
}

const ends = { admitted: '{"kind":"admitted","record":{"id":"', settled: '{"kind":"settled","record":{"id":"' } as const
/** Enough for the longer beginning and an id. */
const headBytes = ends.admitted.length + 40
const recordAt = { admitted: ends.admitted.indexOf('{"id"'), settled: ends.settled.indexOf('{"id"') } as const

/** Kind and id stand at a known place in everything the gateway writes. Anything else is parsed. */
function recognise(window: Buffer, begin: number, end: number): FoundEntry {
  const place = { window, begin, end }
  const head = window.toString('latin1', begin, Math.min(begin + headBytes, end))
  const kind = head.startsWith(ends.settled) ? 'settled' : head.startsWith(ends.admitted) ? 'admitted' : null
  if (kind !== null && window[end - 1] === closingBrace) {
    const id = idForm.exec(head.slice(ends[kind].length))?.[1]
    if (id !== undefined) return { kind, id, ...place, plain: true, record: null }
  }
  const counted = recogniseCounted(place, head)
  if (counted !== null) return counted
  const rest = { ...place, plain: false, record: null }
  const body = bodyHead.exec(head)?.[1]
  if (body !== undefined && window[end - 1] === closingBrace) return { kind: 'body', id: body, ...rest }
  const entry = parseEntry(place)
  if (entry === null) return { kind: 'unknown', id: '', ...rest }
  return { kind: entry.kind, id: idOf(entry), ...rest }
}

const countedEnds = { admitted: '{"kind":"admitted","hold":[', settled: '{"kind":"settled","booked":[' } as const
/** No string contains it, since quotes are escaped there. */
const recordMark = Buffer.from('],"record":{"id":"')
const idBytes = 40

/** What budgets count stands before the record, which need not be parsed for it. */
function recogniseCounted(place: Pick<FoundEntry, 'window' | 'begin' | 'end'>, head: string): FoundEntry | null {
  const { window, begin, end } = place
  const kinds = ['admitted', 'settled'] as const
  const kind = kinds.find((each) => head.startsWith(countedEnds[each]))
  if (kind === undefined || window[end - 1] !== closingBrace) return null
  const at = window.indexOf(recordMark, begin)
  if (at < 0 || at >= end) return null
  const idAt = at + recordMark.length
  const id = idForm.exec(window.toString('latin1', idAt, Math.min(idAt + idBytes, end)))?.[1]
  return id === undefined ? null : { kind, id, ...place, plain: false, record: at + '],"record":'.length }
}

/** What budgets count of an admitted or settled request; null: none of them counts it. */
export function readCounted(found: FoundEntry): CountedEntry | null {
  const { kind, id, window, begin, record } = found
  if (kind !== 'admitted' && kind !== 'settled') return null
  if (record !== null) {
    const head = window.toString('utf8', begin, record - ',"record":'.length)
    return { ...(JSON.parse(`${head}}`) as CountedEntry), id }
  }
  const entry = parseEntry(found)
  if (entry?.kind === 'admitted') return { kind, id, hold: entry.hold }
  return entry?.kind === 'settled' ? { kind, id, booked: entry.booked } : null
}

export interface CountedEntry {
  kind: 'admitted' | 'settled'
  /** Of the request. */
  id: string
  hold?: readonly BookedAmount[] | undefined
  booked?: readonly BookedAmount[] | undefined
}

function idOf(entry: JournalEntry): string {
  if ('requestId' in entry) return entry.requestId
  return entry.kind === 'admitted' || entry.kind === 'settled' ? entry.record.id : entry.id
}

/** Of an entry that the gateway wrote: the body is large, and parsed only where it is stored. */
const bodyHead = /^\{"kind":"body","id":"([\w-]+)"/
const closingBrace = 0x7d
const idForm = /^([\w-]+)"/

/** The JSON of the record that an admitted or settled entry holds. */
export function recordText(found: FoundEntry): string {
  const { kind, window, begin, end, plain, record } = found
  if (record !== null) return window.toString('utf8', record, end - 1)
  if (plain && (kind === 'settled' || kind === 'admitted'))
    return window.toString('utf8', begin + recordAt[kind], end - 1)
  const entry = parseEntry(found)
  return entry !== null && 'record' in entry ? JSON.stringify(entry.record) : ''
}

/** Null for what no writer of ours wrote. */
export function parseEntry({ window, begin, end }: Pick<FoundEntry, 'window' | 'begin' | 'end'>): JournalEntry | null {
  try {
    const entry: unknown = JSON.parse(window.toString('utf8', begin, end))
    return isEntry(entry) ? entry : null
  } catch {
    return null
  }
}
