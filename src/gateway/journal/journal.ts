import fs from 'node:fs'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import { errorCode, errorText } from '../../core/caught.ts'
import { entryHeaderBytes, formatSegmentName, type JournalEntry, segmentBytes } from '../../core/journal-format.ts'
import type { RequestRecord } from '../../core/record.ts'
import { reserveFile } from '../../core/reserve.ts'
import { maskGatewayKeys } from '../../core/secrets/gateway-key.ts'
import { maskKeys, mayHoldKey } from '../../core/secrets/mask-keys.ts'
import { homeOf, SegmentRescue } from './segment-rescue.ts'

/** Bytes of entries that wait in memory while the journal cannot be written. Beyond that the oldest are dropped, and counted as lost. */
const waitingLimit = 16 * 1024 * 1024
const retryMs = 250
/** How long a past fault is still reported, so that whoever polls the status sees it. */
const recoveredMs = 3000
const alreadyWritten = Promise.resolve()
/** Written several times to fill a segment: a buffer as large as a segment would stay in the process's memory. */
const zeros = Buffer.alloc(256 * 1024)

export interface JournalPlace {
  directory: string
  boot: string
  thread: number
}

/**
 * Writes one thread's segments. Entries appended in one turn of the event loop are written together and share one promise, which resolves
 * when they have reached the page cache, where they survive a crash of the process. After a turn with at most one entry, the next entry is
 * written at once, so that its request goes on within its turn. While the disk refuses writes, entries wait in bounded memory and promises
 * resolve at once: traffic goes on, a crash would lose those entries, and `onDegraded` reports it (product.md section 8).
 */
export class Journal {
  readonly #place: JournalPlace
  readonly #onDegraded: (reason: string | null, lost: number) => void
  #file: number | null = null
  #segment: { place: string; home: number | null } = { place: '', home: null }
  readonly #kept = new SegmentRescue()
  #sequence = 0
  #position = 0
  readonly #waiting = new EntryBuffer()
  /** The promise that the entries of this turn share. */
  #turn: { promise: Promise<void>; resolve: () => void } | null = null
  #entriesThisTurn = 0
  #busy = false
  readonly #endTurn = () => {
    this.#busy = this.#entriesThisTurn > 1
    this.#entriesThisTurn = 0
    if (this.#turn !== null) this.flush()
  }
  #degraded: string | null = null
  #lost = 0
  /** The thread ends: segments are no longer filled with zeros in advance. */
  #isLast = false

  constructor(place: JournalPlace, onDegraded: (reason: string | null, lost: number) => void) {
    this.#place = place
    this.#onDegraded = onDegraded
  }

  append(entry: JournalEntry): Promise<void> {
    this.#waiting.add(entry)
    if (this.#degraded !== null) {
      this.#bound()
      return alreadyWritten
    }
    if (this.#entriesThisTurn++ === 0) {
      setImmediate(this.#endTurn)
      if (!this.#busy) {
        this.flush()
        return alreadyWritten
      }
    }
    this.#turn ??= Promise.withResolvers<void>()
    return this.#turn.promise
  }

  /** Writes what waits. Runs by itself once a turn; call it before the thread ends. */
  flush(): void {
    try {
      this.#write()
      this.#report(null)
    } catch (error) {
      this.#report(describeDiskFault(error))
    }
    this.#turn?.resolve()
    this.#turn = null
  }

  close(): void {
    this.flush()
    if (this.#waiting.entries > 0) this.#takeLast()
    this.#giveUp()
    this.#closeSegment()
    this.#kept.close()
  }

  get degraded(): string | null {
    return this.#degraded
  }

  #write(): void {
    if (this.#kept.deleted.length > 0) this.#kept.restore()
    while (this.#waiting.entries > 0) {
      const file = this.#file ?? this.#open()
      // An entry larger than a segment gets one of its own, which grows.
      const { bytes, entries } = this.#waiting.peek(segmentBytes - this.#position, this.#position === 0)
      if (entries === 0) {
        this.#closeSegment()
        continue
      }
      this.#writeAll(file, bytes)
      this.#waiting.drop(entries)
    }
  }

  #writeAll(file: number, bytes: Buffer): void {
    let written = 0
    // A short write leaves a torn entry. The position moves only once all bytes are written, so a retry overwrites it.
    while (written < bytes.length) {
      written += fs.writeSync(file, bytes, written, bytes.length - written, this.#position + written)
    }
    this.#position += bytes.length
  }

  #open(): number {
    const name = formatSegmentName({ boot: this.#place.boot, thread: this.#place.thread, sequence: this.#sequence++ })
    fs.mkdirSync(this.#place.directory, { recursive: true, mode: 0o700 })
    if (this.#degraded !== null && !this.#isLast) refuseFullDisk(this.#place.directory)
    const place = path.join(this.#place.directory, name)
    // Readable, too: if somebody deletes the file, it is restored from this descriptor.
    const file = fs.openSync(place, 'wx+', 0o600)
    try {
      if (!this.#isLast) takeRoom(file)
    } catch (error) {
      // Retried constantly while the disk is full: neither descriptors nor half-made segments may accumulate.
      fs.closeSync(file)
      fs.rmSync(place, { force: true })
      throw error
    }
    this.#file = file
    this.#segment = { place, home: homeOf(place) }
    this.#position = 0
    return file
  }

  #closeSegment(): void {
    if (this.#file !== null) this.#kept.keep({ file: this.#file, ...this.#segment, bytes: this.#position })
    this.#file = null
  }

  /**
   * Called every second. If somebody has deleted or moved the directory, ingestion cannot find its segments any more: restores them in
   * their place, and begins a new segment.
   */
  checkPlace(): void {
    if (this.#file !== null && this.#isLost(this.#file)) this.#closeSegment()
    this.#kept.look()
    if (this.#kept.deleted.length === 0) return
    this.flush()
    if (this.#degraded !== null) return
    this.#onDegraded('the journal directory was deleted; it was created again, with what was in it', this.#lost)
    setTimeout(() => this.#onDegraded(this.#degraded, this.#lost), recoveredMs).unref()
  }

  #isLost(file: number): boolean {
    try {
      const found = fs.statSync(this.#segment.place, { throwIfNoEntry: false })
      return found?.ino !== fs.fstatSync(file).ino
    } catch {
      // Unknown, for lack of permission. The open segment can still be written.
      return false
    }
  }

  #report(reason: string | null): void {
    if (reason !== null) setTimeout(() => this.flush(), retryMs).unref()
    const shown = reason !== null && this.#lost > 0 ? `${reason} (${this.#lost} entries lost)` : reason
    if (shown === this.#degraded) return
    this.#degraded = shown
    this.#onDegraded(shown, this.#lost)
  }

  /** The thread ends: writes what waits, if necessary into the space that the reserve file keeps free. The next start reads it. */
  #takeLast(): void {
    this.#isLast = true
    this.#closeSegment()
    this.flush()
    if (this.#waiting.entries === 0) return
    try {
      fs.rmSync(path.join(path.dirname(this.#place.directory), reserveFile), { force: true })
      this.flush()
    } catch {
      // The reserve file cannot be removed, so its space cannot be used.
    }
  }

  /** The thread ends: reports the entries that it could not write as lost. */
  #giveUp(): void {
    const { entries } = this.#waiting
    if (entries === 0) return
    this.#lost += entries
    this.#waiting.drop(entries)
    this.#onDegraded(this.#degraded, this.#lost)
  }

  #bound(): void {
    for (; this.#waiting.size > waitingLimit; this.#lost++) this.#waiting.drop(1)
  }
}

/** Checked before a segment is filled: each attempt would otherwise take the last free space from the database for a moment. */
function refuseFullDisk(directory: string): void {
  const { bavail, bsize } = fs.statfsSync(directory)
  if (bavail * bsize < segmentBytes) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
}

/** Fills a new segment with zeros, so that a full disk fails now and not in the middle of an entry. */
function takeRoom(file: number): void {
  for (let taken = 0; taken < segmentBytes; ) {
    taken += fs.writeSync(file, zeros, 0, Math.min(zeros.length, segmentBytes - taken), taken)
  }
}

const diskFaults: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the journal may not grow: a limit on the size of files',
  EROFS: 'the file system is read-only',
  EACCES: 'no permission to write to the journal directory',
  EPERM: 'no permission to write to the journal directory',
  EEXIST: 'the journal directory is not a directory',
  ENOTDIR: 'the journal directory is not a directory',
  EMFILE: 'too many open files',
  ENFILE: 'too many open files',
  EIO: 'the disk failed to write',
}

/** Why the journal cannot be written. Without its path: every client of `/readyz` can read this. */
function describeDiskFault(error: unknown): string {
  const code = errorCode(error)
  if (code === null) return errorText(error)
  return `${diskFaults[code] ?? 'the journal cannot be written'} (${code})`
}

/** Enough for what a busy thread journals in one turn. A buffer that grew larger while the disk refused writes shrinks to this again. */
const usualBytes = 256 * 1024
/** UTF-8 takes at most three bytes for a UTF-16 unit. */
const bytesPerUnit = 3

/** A client may put a key into a model, a tag or a path. The text of a body entry is sealed, so it shows none. */
function maskedText(entry: JournalEntry): string {
  const text = JSON.stringify(entry)
  if (entry.kind === 'admitted' || entry.kind === 'settled') return maskEntry(text, entry.record)
  return entry.kind === 'body' ? text : maskGatewayKeys(text)
}

/** Encoded journal entries in a row, so that one write takes all of them. */
export class EntryBuffer {
  #bytes = Buffer.allocUnsafeSlow(usualBytes)
  #start = 0
  #end = 0
  /** Where each entry ends, from the one at `#first` on. Earlier ones were dropped. */
  #ends: number[] = []
  #first = 0

  get entries(): number {
    return this.#ends.length - this.#first
  }

  get size(): number {
    return this.#end - this.#start
  }

  add(entry: JournalEntry): void {
    const text = maskedText(entry)
    this.#makeRoom(entryHeaderBytes + text.length * bytesPerUnit)
    const from = this.#end + entryHeaderBytes
    const length = this.#bytes.write(text, from)
    this.#bytes.writeUInt32LE(length, this.#end)
    this.#bytes.writeUInt32LE(crc32(this.#bytes.subarray(from, from + length)), this.#end + 4)
    this.#end = from + length
    this.#ends.push(this.#end)
  }

  /** The first entries that fit into `room`; at least one if `atLeastOne`. Valid until the next change. */
  peek(room: number, atLeastOne: boolean): { bytes: Buffer; entries: number } {
    let entries = 0
    let end = this.#start
    for (let next = this.#ends[this.#first]; next !== undefined; next = this.#ends[this.#first + entries]) {
      if (next - this.#start > room && !(entries === 0 && atLeastOne)) break
      end = next
      entries++
    }
    return { bytes: this.#bytes.subarray(this.#start, end), entries }
  }

  /** Removes the first entries. */
  drop(entries: number): void {
    this.#first += entries
    if (this.#first >= this.#ends.length) return this.#reset()
    this.#start = this.#ends[this.#first - 1] ?? this.#start
  }

  #reset(): void {
    this.#start = 0
    this.#end = 0
    this.#first = 0
    this.#ends.length = 0
    if (this.#bytes.length > usualBytes) this.#bytes = Buffer.allocUnsafeSlow(usualBytes)
  }

  #makeRoom(bytes: number): void {
    if (this.#end + bytes <= this.#bytes.length) return
    const { size } = this
    const grown = size + bytes > this.#bytes.length / 2
    const target = grown ? Buffer.allocUnsafeSlow(2 * Math.max(this.#bytes.length, size + bytes)) : this.#bytes
    this.#bytes.copy(target, 0, this.#start, this.#end)
    this.#ends = this.#ends.slice(this.#first).map((end) => end - this.#start)
    this.#first = 0
    this.#bytes = target
    this.#end = size
    this.#start = 0
  }
}

/** The password in an address may be short: `://:x@`. */
const shortestKey = 6

/**
 * The text of a journal entry without keys, where its record may hold any. To search all of it costs twice as much as to write it. So
 * only those texts of a plain record are searched that its client chose: nothing else of it can hold what they do not.
 */
function maskEntry(text: string, record: RequestRecord): string {
  return mayHoldKeys(record) ? maskKeys(text) : maskGatewayKeys(text)
}

function mayHoldKeys(record: RequestRecord): boolean {
  const { error, attempts, losses, path, model, upstream_model, provider_request_id, client, trace, tags } = record
  if (error !== null || attempts.length > 1 || isNoted(attempts[0]?.message) || losses.some(holdsKey)) return true
  if (holdsKey(path) || holdsKey(model) || holdsKey(upstream_model) || holdsKey(client.user_agent)) return true
  if (holdsKey(record.usage_detail?.image_size)) return true
  if (holdsKey(provider_request_id) || (trace !== null && holdsKey(trace.state))) return true
  for (const name in tags) if (holdsKey(name) || holdsKey(tags[name])) return true
  return false
}

const isNoted = (text: string | null | undefined): boolean => typeof text === 'string' && text !== ''

function holdsKey(text: string | null | undefined): boolean {
  if (typeof text !== 'string' || text.length < shortestKey || plainTexts.has(text)) return false
  if (mayHoldKey(text)) return true
  if (plainTexts.size >= mostPlainTexts) plainTexts.clear()
  plainTexts.add(text)
  return false
}

/** A few user agents, paths and models are those of nearly all requests. */
const plainTexts = new Set<string>()
const mostPlainTexts = 256
