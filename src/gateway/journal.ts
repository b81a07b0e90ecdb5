import fs from 'node:fs'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import { entryHeaderBytes, formatSegmentName, type JournalEntry, segmentBytes } from '../core/journal-format.ts'
import { describeDiskFault } from './disk-fault.ts'

/** What waits in memory while the journal cannot be written; beyond it the oldest entries are lost, and counted. */
const waitingLimit = 16 * 1024 * 1024
const retryMs = 250

export interface JournalPlace {
  directory: string
  boot: string
  thread: number
}

/**
 * The writer of one thread's segments. Entries appended in one turn of the event loop go out in one write; each
 * promise resolves when its entry has reached the page cache, which survives the death of the process.
 * While the disk refuses, entries wait in bounded memory and the promises resolve at once: traffic goes on, the
 * crash promise is suspended, and `onDegraded` says so (product.md section 8).
 */
export class Journal {
  readonly #place: JournalPlace
  readonly #onDegraded: (reason: string | null, lost: number) => void
  #file: number | null = null
  #inode = 0
  #sequence = 0
  #position = 0
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #wakers: (() => void)[] = []
  #scheduled = false
  #degraded: string | null = null
  #lost = 0

  constructor(place: JournalPlace, onDegraded: (reason: string | null, lost: number) => void) {
    this.#place = place
    this.#onDegraded = onDegraded
  }

  append(entry: JournalEntry): Promise<void> {
    const payload = Buffer.from(JSON.stringify(entry))
    const bytes = Buffer.allocUnsafe(entryHeaderBytes + payload.length)
    bytes.writeUInt32LE(payload.length, 0)
    bytes.writeUInt32LE(crc32(payload), 4)
    payload.copy(bytes, entryHeaderBytes)
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    if (!this.#scheduled && this.#degraded === null) {
      this.#scheduled = true
      setImmediate(() => this.flush())
    }
    if (this.#degraded !== null) {
      this.#bound()
      return Promise.resolve()
    }
    return new Promise((resolve) => this.#wakers.push(resolve))
  }

  /** Writes what waits. Called by itself once a turn; call it by hand before the thread ends. */
  flush(): void {
    this.#scheduled = false
    try {
      this.#write()
      this.#report(null)
    } catch (error) {
      this.#report(describeDiskFault(error))
    }
    const wakers = this.#wakers
    this.#wakers = []
    for (const wake of wakers) wake()
  }

  close(): void {
    this.flush()
    this.#giveUp()
    if (this.#file !== null) fs.closeSync(this.#file)
    this.#file = null
  }

  get degraded(): string | null {
    return this.#degraded
  }

  #write(): void {
    while (this.#waiting.length > 0) {
      if (this.#file === null) this.#open()
      const batch = this.#takeBatch()
      if (batch === null) {
        this.#closeSegment()
        continue
      }
      this.#writeAll(batch.bytes)
      this.#waiting.splice(0, batch.entries)
      this.#waitingBytes -= batch.bytes.length
    }
  }

  /** As many waiting entries as the segment has room for; null when not even one. */
  #takeBatch(): { bytes: Buffer; entries: number } | null {
    const room = segmentBytes - this.#position
    let size = 0
    let entries = 0
    for (const bytes of this.#waiting) {
      // An entry larger than a segment gets one of its own, which grows.
      if (size + bytes.length > room && !(entries === 0 && this.#position === 0)) break
      size += bytes.length
      entries++
    }
    if (entries === 0) return null
    return { bytes: entries === 1 ? this.#waiting[0]! : Buffer.concat(this.#waiting.slice(0, entries), size), entries }
  }

  #writeAll(bytes: Buffer): void {
    let written = 0
    // A short write leaves a torn entry behind; the position moves only with what stands, and the rest is tried again.
    while (written < bytes.length) {
      written += fs.writeSync(this.#file!, bytes, written, bytes.length - written, this.#position + written)
    }
    this.#position += bytes.length
  }

  #open(): void {
    const name = formatSegmentName({ boot: this.#place.boot, thread: this.#place.thread, sequence: this.#sequence++ })
    fs.mkdirSync(this.#place.directory, { recursive: true, mode: 0o700 })
    const place = path.join(this.#place.directory, name)
    const file = fs.openSync(place, 'wx', 0o600)
    try {
      takeRoom(file)
      this.#inode = fs.fstatSync(file).ino
    } catch (error) {
      // Tried again every moment while the disk is full: neither descriptors nor half-made segments may pile up.
      fs.closeSync(file)
      fs.rmSync(place, { force: true })
      throw error
    }
    this.#file = file
    this.#position = 0
  }

  #closeSegment(): void {
    if (this.#file !== null) fs.closeSync(this.#file)
    this.#file = null
  }

  /** A directory deleted under the writer takes the segment's name with it: start a new one where it can be found. */
  checkPlace(): void {
    if (this.#file === null) return
    const name = formatSegmentName({ boot: this.#place.boot, thread: this.#place.thread, sequence: this.#sequence - 1 })
    try {
      const found = fs.statSync(path.join(this.#place.directory, name), { throwIfNoEntry: false })
      if (found?.ino !== this.#inode) this.#closeSegment()
    } catch {
      // It cannot be told (no permission to look): the segment that is open still takes entries.
    }
  }

  #report(reason: string | null): void {
    if (reason !== null) setTimeout(() => this.flush(), retryMs).unref()
    const shown = reason !== null && this.#lost > 0 ? `${reason} (${this.#lost} entries lost)` : reason
    if (shown === this.#degraded) return
    this.#degraded = shown
    this.#onDegraded(shown, this.#lost)
  }

  /** The thread ends: what the disk still refuses is lost, and that is said. */
  #giveUp(): void {
    if (this.#waiting.length === 0) return
    this.#lost += this.#waiting.length
    this.#waiting = []
    this.#onDegraded(this.#degraded, this.#lost)
  }

  #bound(): void {
    while (this.#waitingBytes > waitingLimit) {
      this.#waitingBytes -= this.#waiting.shift()?.length ?? 0
      this.#lost++
    }
  }
}

/** All of a segment is taken when it is made, so that a full disk shows then and not in the middle of an entry. */
function takeRoom(file: number): void {
  const zeros = Buffer.alloc(segmentBytes)
  for (let taken = 0; taken < segmentBytes; ) taken += fs.writeSync(file, zeros, taken, segmentBytes - taken, taken)
}
