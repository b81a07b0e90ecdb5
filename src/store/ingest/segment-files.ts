import { mkdirSync, writeFileSync } from 'node:fs'
import { copyFile, link, mkdir, open, readdir, rename, stat, statfs, truncate, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../core/caught.ts'
import { mayWrite, parseSegmentName, type SegmentName, type Writers } from '../../core/journal-format.ts'

export interface Segment extends SegmentName {
  file: string
  path: string
  /** Of a thread that runs: its last segment is still being written. */
  live: boolean
  /** Nothing is written to it any more. */
  closed: boolean
}

export const setAsideFolder = 'set-aside'

/** In the order they were written, thread by thread; those of the dead first. An absent directory has none. */
export async function listSegments(directory: string, writers: Writers): Promise<Segment[]> {
  const segments: Segment[] = []
  for (const file of await names(directory)) {
    const name = parseSegmentName(file)
    if (name === null) continue
    const live = mayWrite(writers, name)
    segments.push({ ...name, file, path: join(directory, file), live, closed: !live })
  }
  segments.sort(
    (left, right) =>
      Number(left.live) - Number(right.live) ||
      left.boot.localeCompare(right.boot) ||
      left.thread - right.thread ||
      left.sequence - right.sequence,
  )
  // Listed before the segment is read, so that everything a writer wrote before it moved on is seen.
  for (const [index, segment] of segments.entries()) {
    const next = segments[index + 1]
    if (segment.live && next?.live && next.thread === segment.thread) segment.closed = await isBegun(next.path)
  }
  return segments
}

/** A segment that was created in advance holds only zeros. */
async function isBegun(path: string): Promise<boolean> {
  await using file = await open(path)
  const { bytesRead, buffer } = await file.read(Buffer.alloc(4), 0, 4, 0)
  return bytesRead === 4 && buffer.readUInt32LE(0) !== 0
}

/** Emptied first: its writer restores a segment that somebody else deleted, and knows by this that it need not. */
export async function deleteSegment(segment: Segment): Promise<void> {
  const { nlink } = await stat(segment.path)
  // What is kept aside is another name of the same file.
  if (nlink === 1) await truncate(segment.path)
  await unlink(segment.path)
}

/**
 * Keeps a copy for inspection before ingestion goes on behind the unreadable bytes: the segment itself is deleted when
 * it is done, and a crash in between must not lose it.
 */
export async function keepSegment(directory: string, segment: Segment): Promise<void> {
  const kept = await placeAside(directory, segment.file)
  await link(segment.path, kept).catch(async (error: unknown) => {
    if (errorCode(error) === 'EEXIST') return
    // A file system without hard links.
    await copyFile(segment.path, kept)
  })
}

/** Kept in the same way, where ingestion does not read it again. */
export async function setSegmentAside(directory: string, segment: Segment): Promise<void> {
  await rename(segment.path, await placeAside(directory, segment.file))
  // Renaming one link of a file over another one changes nothing.
  await unlink(segment.path).catch(ignoreMissing)
}

/** Entries that the store refuses, a line each, named by where in the segment their batch ended. */
export function setEntriesAside(
  directory: string,
  segment: Segment,
  offset: number,
  entries: readonly { window: Buffer; begin: number; end: number }[],
): void {
  const lines = entries.map(({ window, begin, end }) => asLine(window.subarray(begin, end)))
  writeAside(directory, `${segment.file}-${offset}.jsonl`, lines)
}

export function writeAside(directory: string, file: string, lines: readonly string[]): void {
  const folder = join(directory, setAsideFolder)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(join(folder, file), lines.map((line) => `${line}\n`).join(''), { mode: 0o600 })
}

/** What is no JSON is kept as base64, so that every line is. */
function asLine(payload: Buffer): string {
  try {
    return JSON.stringify(JSON.parse(payload.toString('utf8')))
  } catch {
    return JSON.stringify(payload.toString('base64'))
  }
}

async function placeAside(directory: string, file: string): Promise<string> {
  await mkdir(join(directory, setAsideFolder), { recursive: true, mode: 0o700 })
  return join(directory, setAsideFolder, file)
}

export async function listSetAside(directory: string): Promise<string[]> {
  return (await names(join(directory, setAsideFolder))).sort()
}

export async function journalBytes(directory: string): Promise<number> {
  let bytes = 0
  for (const file of await names(directory)) {
    if (!parseSegmentName(file)) continue
    const found = await stat(join(directory, file)).catch(ignoreMissing)
    bytes += found?.size ?? 0
  }
  return bytes
}

async function names(directory: string): Promise<string[]> {
  return (await readdir(directory).catch(ignoreMissing)) ?? []
}

export function ignoreMissing(error: unknown): undefined {
  // A file in place of the directory holds no segments either; the writer reports that.
  if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined
  throw error
}

/** What the file system of a directory has left for us; null where it does not say. */
export async function freeBytes(directory: string): Promise<number | null> {
  const space = await statfs(directory).catch(() => null)
  return space === null ? null : space.bavail * space.bsize
}
