import fs from 'node:fs'
import path from 'node:path'
import { formatSegmentName, type JournalEntry, segmentBytes } from '../core/journal-format.ts'
import { describeDiskFault } from './disk-fault.ts'
import { EntryBuffer } from './entry-buffer.ts'

/** What waits in memory while the journal cannot be written; beyond it the oldest entries are lost, and counted. */
const waitingLimit = 16 * 1024 * 1024
const retryMs = 250
const alreadyWritten = Promise.resolve()

export interface JournalPlace {
  directory: string
  boot: string
  thread: number
}

/**
 * The writer of one thread's segments. Entries appended in one turn of the event loop go out in one write and share
 * one promise, which resolves when they have reached the page cache: it survives the death of the process.
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
  readonly #waiting = new EntryBuffer()
  /** Of the entries that go out at the end of this turn. */
  #turn: { promise: Promise<void>; resolve: () => void } | null = null
  readonly #endTurn = () => this.flush()
  #degraded: string | null = null
  #lost = 0

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
    if (this.#turn === null) {
      this.#turn = Promise.withResolvers<void>()
      setImmediate(this.#endTurn)
    }
    return this.#turn.promise
  }

  /** Writes what waits. Called by itself once a turn; call it by hand before the thread ends. */
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
    this.#giveUp()
    if (this.#file !== null) fs.closeSync(this.#file)
    this.#file = null
  }

  get degraded(): string | null {
    return this.#degraded
  }

  #write(): void {
    while (this.#waiting.entries > 0) {
      if (this.#file === null) this.#open()
      // An entry larger than a segment gets one of its own, which grows.
      const { bytes, entries } = this.#waiting.peek(segmentBytes - this.#position, this.#position === 0)
      if (entries === 0) {
        this.#closeSegment()
        continue
      }
      this.#writeAll(bytes)
      this.#waiting.drop(entries)
    }
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

/** All of a segment is taken when it is made, so that a full disk shows then and not in the middle of an entry. */
function takeRoom(file: number): void {
  const zeros = Buffer.alloc(segmentBytes)
  for (let taken = 0; taken < segmentBytes; ) taken += fs.writeSync(file, zeros, taken, segmentBytes - taken, taken)
}
