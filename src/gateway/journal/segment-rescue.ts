import fs from 'node:fs'
import path from 'node:path'

/** Ingestion is rarely further behind. Beyond that, the oldest segments are released, and a deleted directory costs their records. */
const most = 16

export interface WrittenSegment {
  file: number
  place: string
  /** The inode of the directory in which it was created. */
  home: number | null
  /** Bytes of entries; zeros follow them. */
  bytes: number
}

/**
 * Written segments that may not have been ingested. Their descriptors stay open, so that a deleted one can be restored under its name, and
 * ingestion can continue where it was. Ingestion empties a segment before it deletes it.
 */
export class SegmentRescue {
  #kept: WrittenSegment[] = []
  /** Deleted by somebody before they were ingested; `restore` writes them back. */
  deleted: readonly WrittenSegment[] = []

  keep(segment: WrittenSegment): void {
    this.#kept.push(segment)
    for (const { file } of this.#kept.splice(0, this.#kept.length - most)) fs.closeSync(file)
  }

  /** Releases segments that were ingested, and finds those that were deleted before. */
  look(): void {
    const kept: WrittenSegment[] = []
    const deleted = [...this.deleted]
    for (const segment of this.#kept) {
      const { size, nlink } = fs.fstatSync(segment.file)
      if (size === 0) fs.closeSync(segment.file)
      else if (nlink === 0 || segment.home !== homeOf(segment.place)) deleted.push(segment)
      else kept.push(segment)
    }
    this.#kept = kept
    this.deleted = deleted
  }

  /** Throws if the disk refuses. What could not be restored is tried again with the next call. */
  restore(): void {
    for (let [segment] = this.deleted; segment !== undefined; [segment] = this.deleted) {
      const copy = putBack(segment)
      fs.closeSync(segment.file)
      this.deleted = this.deleted.slice(1)
      this.keep({ ...segment, file: copy, home: homeOf(segment.place) })
    }
  }

  close(): void {
    for (const { file } of [...this.#kept, ...this.deleted]) fs.closeSync(file)
    this.#kept = []
    this.deleted = []
  }
}

/** null: there is no such directory, or it cannot be read. */
export function homeOf(place: string): number | null {
  try {
    return fs.statSync(path.dirname(place), { throwIfNoEntry: false })?.ino ?? null
  } catch {
    return null
  }
}

/** Appears under its name only when it is complete, since ingestion may look at any moment. */
function putBack({ file, place, bytes }: WrittenSegment): number {
  const content = Buffer.allocUnsafe(bytes)
  for (let read = 0; read < bytes; ) read += fs.readSync(file, content, read, bytes - read, read)
  fs.mkdirSync(path.dirname(place), { recursive: true, mode: 0o700 })
  const unfinished = `${place}.part`
  const copy = fs.openSync(unfinished, 'w+', 0o600)
  try {
    for (let written = 0; written < bytes; ) written += fs.writeSync(copy, content, written, bytes - written, written)
    fs.renameSync(unfinished, place)
    return copy
  } catch (error) {
    fs.closeSync(copy)
    fs.rmSync(unfinished, { force: true })
    throw error
  }
}
