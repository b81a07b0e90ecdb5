import { crc32 } from 'node:zlib'
import { entryHeaderBytes, type JournalEntry } from '../../core/journal-format.ts'

/** Enough for what a busy thread journals in one turn; what grew beyond in a time of need is given back. */
const usualBytes = 256 * 1024
/** UTF-8 takes at most three bytes for a UTF-16 unit. */
const bytesPerUnit = 3

/** Journal entries in the form in which they are written, in a row, so that one write takes as many as there are. */
export class EntryBuffer {
  #bytes = Buffer.allocUnsafeSlow(usualBytes)
  #start = 0
  #end = 0
  /** Where each entry ends, from the one at `#first` on; those before are gone. */
  #ends: number[] = []
  #first = 0

  get entries(): number {
    return this.#ends.length - this.#first
  }

  get size(): number {
    return this.#end - this.#start
  }

  add(entry: JournalEntry): void {
    const text = JSON.stringify(entry)
    this.#makeRoom(entryHeaderBytes + text.length * bytesPerUnit)
    const from = this.#end + entryHeaderBytes
    const length = this.#bytes.write(text, from)
    this.#bytes.writeUInt32LE(length, this.#end)
    this.#bytes.writeUInt32LE(crc32(this.#bytes.subarray(from, from + length)), this.#end + 4)
    this.#end = from + length
    this.#ends.push(this.#end)
  }

  /** The first entries, as many as fit into `room`, and the first in any case where `atLeastOne`. Valid until the next change. */
  peek(room: number, atLeastOne: boolean): { bytes: Buffer; entries: number } {
    let entries = 0
    let end = this.#start
    for (let index = this.#first; index < this.#ends.length; index++) {
      const next = this.#ends[index]!
      if (next - this.#start > room && !(entries === 0 && atLeastOne)) break
      end = next
      entries++
    }
    return { bytes: this.#bytes.subarray(this.#start, end), entries }
  }

  /** Forgets the first entries. */
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
