import { closeSync, openSync, renameSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { giveRoom, hasRoom } from '../../admin/handlers/with-reserve.ts'
import { reserveFile } from '../../core/reserve.ts'
import { checkDirectory } from '../doctor/directory.ts'
import type { Log } from '../log.ts'

const reserveBytes = 8 * 1024 * 1024
/** A disk with less than that free needs it for records. */
const leastFreeBytes = 4 * reserveBytes
/** What a start writes: the process's id, and what stands beside the database while it is open. */
const startBytes = 256 * 1024
const everyMs = 60_000
/** Written, and not only promised by the file's size. */
const zeros = Buffer.alloc(1024 * 1024)

/**
 * Says who else may enter it; makes room for a start, keeps the reserve, and makes it whole again when it was used and there is
 * room. The result ends that.
 */
export function lookAfterDirectory(directory: string, log: Pick<Log, 'warn'>): () => void {
  const [access] = checkDirectory(directory, Date.now())
  if (access !== undefined && access.state !== 'ok') log.warn(access.message, { remedy: access.remedy ?? '' })
  makeRoomToStart(directory)
  makeReserve(directory)
  const timer = setInterval(() => makeReserve(directory), everyMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** On a full disk, from the reserve: a gateway that is started again serves, whatever it cannot write. */
function makeRoomToStart(directory: string): void {
  try {
    const { bavail, bsize } = statfsSync(directory)
    if (bavail * bsize < startBytes || !hasRoom(directory, startBytes)) giveRoom(directory)
  } catch {
    // What stands in the way says so itself.
  }
}

/** A gateway without it is as good as any until its disk is full: nothing that fails here is worth a word. */
function makeReserve(directory: string): void {
  const place = join(directory, reserveFile)
  const begun = `${place}.new`
  try {
    if ((statSync(place, { throwIfNoEntry: false })?.size ?? 0) >= reserveBytes) return
    const { bavail, bsize } = statfsSync(directory)
    if (bavail * bsize < leastFreeBytes) return
    const file = openSync(begun, 'w', 0o600)
    try {
      for (let taken = 0; taken < reserveBytes; ) taken += writeSync(file, zeros, 0, zeros.length, taken)
    } finally {
      closeSync(file)
    }
    renameSync(begun, place)
  } catch {
    removeBegun(begun)
  }
}

function removeBegun(begun: string): void {
  try {
    rmSync(begun, { force: true })
  } catch {
    // The next turn writes it anew.
  }
}
