import { statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { reserveFile } from '../../core/reserve.ts'
import { StoreDegraded } from '../../store/store-error.ts'
import type { AdminContext } from './context.ts'

/** Enough for a change, and too little for a segment of the journal, which would take it first. */
const partBytes = 1024 * 1024

/** Takes somebody's access away, also on a full disk: there from the room that is kept for it. */
export async function withReserve<Output>(context: AdminContext, change: () => Promise<Output>): Promise<Output> {
  for (;;) {
    try {
      return await change()
    } catch (error) {
      const isFull = error instanceof StoreDegraded && error.message.includes('the disk is full')
      if (!isFull || !giveRoom(context.runtime.dataDirectory)) throw error
    }
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
