import { createHash, type Hash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { errorCode } from '../src/core/caught.ts'
import { CommandFault, exitStatus, Interrupted } from './fault.ts'
import type { FileName } from './file-name.ts'
import type { Io } from './io.ts'
import { openProgress, type Progress } from './progress.ts'

/** Where the command line puts a file, as it was told. */
export interface FileTarget {
  /** null: a name of our own in the current directory. */
  path: string | null
  force: boolean
}

/** What the streams of `src/admin/contract/download.ts` say, read by its form alone. */
interface DownloadProgress {
  kind: string
  stage?: string
  done?: number
  total?: number | null
  bytes?: number | null
  summary?: object
  base64?: string
  sha256?: string
  missing?: string
}

/**
 * Writes a stream into a file that is there whole or not at all: into `FILE.part`, synced, read back and compared with
 * what the gateway says it sent, and only then under its name. Resolves to what it is, and what it may lack.
 */
export async function download(
  target: FileTarget & FileName,
  start: (signal: AbortSignal) => Promise<AsyncIterable<unknown>>,
  io: Io,
): Promise<object> {
  const path = resolve(target.path ?? `${target.name}-${nameTime(io.now())}.${target.ending}`)
  refuseExisting(path, target.force)
  const part = `${path}.part`
  const stop = new AbortController()
  const release = io.onInterrupt(() => stop.abort())
  const progress = openProgress(io)
  try {
    const { summary, bytes, sha256 } = await receive(part, () => start(stop.signal), progress)
    await compare(part, bytes, sha256, progress)
    refuseExisting(path, target.force)
    await rename(part, path)
    await syncDirectory(dirname(path))
    return { file: path, bytes, sha256, ...summary }
  } catch (error) {
    await rm(part, { force: true })
    if (stop.signal.aborted) throw new Interrupted()
    throw error
  } finally {
    release()
    await progress.end()
  }
}

interface Received {
  summary: object
  bytes: number
  sha256: string
}

/** Nothing is asked of the gateway before there is a place for it. */
async function receive(
  part: string,
  start: () => Promise<AsyncIterable<unknown>>,
  progress: Progress,
): Promise<Received> {
  await using file = await open(part, 'w', 0o600).catch((error: unknown) => refusePlace(part, error))
  const hash = createHash('sha256')
  let begin: DownloadProgress = { kind: 'begin' }
  let done = 0
  /** Where the gateway does not know how much it will be, what it looks like now. */
  let estimate: number | null = null
  for await (const event of (await start()) as AsyncIterable<DownloadProgress>) {
    if (event.kind === 'progress') {
      estimate = event.total ?? null
      progress.show(event.stage ?? '', event.done ?? 0, estimate)
    } else if (event.kind === 'begin') begin = event
    else if (event.kind === 'bytes') {
      done += await append(file, hash, event)
      progress.show('receiving', done, begin.bytes ?? estimate)
    } else if (event.kind === 'end') {
      await file.sync()
      const received = confirm(begin, done, hash.digest('hex'), event.sha256)
      const { missing } = event
      return missing === undefined ? received : { ...received, summary: { ...received.summary, missing } }
    }
  }
  throw new CommandFault('The gateway stopped before the file was complete.', "See the gateway's log, then try again.")
}

function refusePlace(part: string, error: unknown): never {
  const reason = errorCode(error) ?? String(error)
  throw new CommandFault(`${part} cannot be written (${reason}).`, 'Name a file in a directory that you can write to.')
}

async function append(file: FileHandle, hash: Hash, { base64 = '' }: DownloadProgress): Promise<number> {
  const bytes = Buffer.from(base64, 'base64')
  hash.update(bytes)
  await file.writeFile(bytes)
  return bytes.length
}

function confirm(begin: DownloadProgress, bytes: number, found: string, sha256: string | undefined): Received {
  if (sha256 === found && (begin.bytes === null || begin.bytes === bytes))
    return { summary: begin.summary ?? {}, bytes, sha256 }
  throw new CommandFault('The received file does not match what the gateway sent.', 'Try again.')
}

async function compare(path: string, bytes: number, sha256: string, progress: Progress): Promise<void> {
  const hash = createHash('sha256')
  let done = 0
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
    hash.update(chunk as Buffer)
    done += (chunk as Buffer).length
    progress.show('verifying', done, bytes)
  }
  if (done === bytes && hash.digest('hex') === sha256) return
  throw new CommandFault(
    'The file on disk does not match what was written.',
    'Check the disk, or write to another one.',
  )
}

function refuseExisting(path: string, force: boolean): void {
  if (force || !existsSync(path)) return
  throw new CommandFault(
    `${path} already exists.`,
    'Name another file, or overwrite it with --force.',
    exitStatus.refused,
  )
}

async function syncDirectory(path: string): Promise<void> {
  // Windows opens no directories.
  if (process.platform === 'win32') return
  await using directory = await open(path, 'r')
  await directory.sync()
}

/** `20260301T120000Z` */
function nameTime(now: number): string {
  return new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')
}
