import { rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../../core/caught.ts'
import { reserveFile } from '../../core/reserve.ts'
import { StoreDegraded } from '../../store/store-error.ts'
import type { AdminContext } from './context.ts'

/** Enough for a change, and too little for a segment of the journal, which would take it first. */
const partBytes = 1024 * 1024

/** Takes somebody's access away, also on a full disk: there from the room that is kept for it. */
export async function withReserve<Output>({ runtime }: AdminContext, change: () => Promise<Output>): Promise<Output> {
  return await takeFromReserve(runtime.dataDirectory, change)
}

export async function takeFromReserve<Output>(dataDirectory: string, change: () => Promise<Output>): Promise<Output> {
  for (;;) {
    try {
      return await change()
    } catch (error) {
      if (!isFull(error, dataDirectory) || !giveRoom(dataDirectory)) throw error
    }
  }
}

/** SQLite knows a quota that is used up only as a disk that failed to write: what it is, another file shows. */
function isFull(error: unknown, directory: string): boolean {
  if (!(error instanceof StoreDegraded)) return false
  return error.message.includes('the disk is full') || (error.message.includes('SQLITE_IOERR') && !hasRoom(directory))
}

/** Whether a file of so many bytes may still be written there, whatever free space the disk has: a quota may be used up. */
export function hasRoom(directory: string, bytes = partBytes): boolean {
  const probe = join(directory, `${reserveFile}.probe`)
  try {
    writeFileSync(probe, Buffer.alloc(bytes), { mode: 0o600 })
    return true
  } catch (error) {
    const code = errorCode(error)
    return code !== 'ENOSPC' && code !== 'EDQUOT'
  } finally {
    rmSync(probe, { force: true })
  }
}

/** False: there is none left. */
export function giveRoom(directory: string): boolean {
  const place = join(directory, reserveFile)
  try {
    const { size } = statSync(place)
    if (size === 0) return false
    truncateSync(place, Math.max(0, size - partBytes))
    return true
  } catch {
    return false
  }
}
