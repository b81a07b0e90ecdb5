import { closeSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { JournalEntry } from '../../src/core/journal-format.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { type FoundEntry, parseEntry, recordText, SegmentReader } from '../../src/store/ingest/segment-reader.ts'

/** What one thread has journaled so far. Reads on from where it was: a test asks every few milliseconds. */
export class JournalReader {
  /** In the order written. */
  readonly settled: RequestRecord[] = []
  readonly #directory: string
  readonly #reader = new SegmentReader({ bytes: 64 * 1024, entries: 1000 })
  readonly #offsets = new Map<string, number>()
  readonly #found: FoundEntry[] = []

  constructor(directory: string) {
    this.#directory = directory
  }

  entries(): JournalEntry[] {
    return this.read().#found.flatMap((entry) => parseEntry(entry) ?? [])
  }

  read(): this {
    for (const name of readdirSync(this.#directory).sort()) {
      const file = openSync(join(this.#directory, name), 'r')
      for (let more = true; more; ) {
        const { entries, offset, stop } = this.#reader.readBatch(file, this.#offsets.get(name) ?? 0)
        this.#offsets.set(name, offset)
        for (const entry of entries) this.#keep(entry)
        more = stop === 'more'
      }
      closeSync(file)
    }
    return this
  }

  /** A copy, since the bytes are read over by the next batch. */
  #keep({ window, begin, end, record, ...rest }: FoundEntry): void {
    const copy = Buffer.from(window.subarray(begin, end))
    const entry = { ...rest, window: copy, begin: 0, end: copy.length, record: record === null ? null : record - begin }
    this.#found.push(entry)
    if (entry.kind === 'settled') this.settled.push(JSON.parse(recordText(entry)) as RequestRecord)
  }
}
