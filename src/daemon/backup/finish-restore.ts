import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { reachFaultPoint } from '../../core/fault-point.ts'
import { machineKeyFile } from '../../sealing/machine-key.ts'
import { syncDirectory } from '../../sealing/next-key.ts'
import { giveToOwner } from '../give-to-owner.ts'
import { databaseFile, journalFolder, restoreFolder as ready } from '../places.ts'

/**
 * A restore prepares everything in one folder of the data directory, renames that folder, and only then changes anything
 * beside it. Killed before the rename, nothing has happened; killed after it, the restore itself run again, or the
 * next start of the gateway, goes on from here. (Within the data directory, because that may be a mount of its own, which
 * nothing can be renamed over.)
 */
export const preparing = 'restore.part'
/** In the folder: where to put what was there before. */
const asideFile = 'aside'

/** An empty folder for a restore. What an earlier one left of its own is gone. */
export function makePreparing(dataDirectory: string): string {
  const folder = join(dataDirectory, preparing)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { mode: 0o700 })
  return folder
}

export function forgetPreparing(dataDirectory: string): void {
  rmSync(join(dataDirectory, preparing), { recursive: true, force: true })
}

/** From here on the restore happens, whoever brings it to its end. Returns where the gateway that stood there is kept; null: there was none. */
export function commitRestore(dataDirectory: string): string | null {
  const keepsKey = !existsSync(join(dataDirectory, preparing, machineKeyFile))
  const before = listGateway(dataDirectory).filter((name) => name !== machineKeyFile || !keepsKey)
  const aside = before.length === 0 ? null : `before-restore-${timeForName()}`
  if (aside !== null) writeFileSync(join(dataDirectory, preparing, asideFile), aside, { mode: 0o600, flush: true })
  syncDirectory(join(dataDirectory, preparing))
  renameSync(join(dataDirectory, preparing), join(dataDirectory, ready))
  syncDirectory(dataDirectory)
  reachFaultPoint('restore.committed')
  finishRestore(dataDirectory)
  return aside === null ? null : join(dataDirectory, aside)
}

/** The caller has the data directory to itself. Does nothing where no restore was interrupted. */
export function finishRestore(dataDirectory: string): void {
  const folder = join(dataDirectory, ready)
  if (!existsSync(folder)) return
  // The database goes last: as long as it is here, what stands beside the folder is the gateway before.
  if (existsSync(join(folder, databaseFile))) {
    setAside(dataDirectory, folder)
    reachFaultPoint('restore.set-aside')
    place(machineKeyFile, folder, dataDirectory)
    reachFaultPoint('restore.key-placed')
    place(databaseFile, folder, dataDirectory)
    reachFaultPoint('restore.database-placed')
  }
  rmSync(folder, { recursive: true })
  syncDirectory(dataDirectory)
}

/** What makes a directory a gateway's; settings, locks and unpacked programs belong to the place and stay. */
export function listGateway(dataDirectory: string): string[] {
  if (!existsSync(dataDirectory)) return []
  const files = readdirSync(dataDirectory).filter((name) =>
    /^(spgw\.db(-wal|-shm|-journal)?|machine\.key(\.next)?)$/.test(name),
  )
  const journal = join(dataDirectory, journalFolder)
  const journaled = existsSync(journal) && readdirSync(journal).length > 0
  return journaled ? [...files, journalFolder] : files
}

function setAside(dataDirectory: string, folder: string): void {
  const note = join(folder, asideFile)
  if (!existsSync(note)) return
  const aside = join(dataDirectory, readFileSync(note, 'utf8'))
  mkdirSync(aside, { recursive: true, mode: 0o700 })
  giveToOwner(dataDirectory, [basename(aside)])
  const keyPlaced = !existsSync(join(folder, machineKeyFile))
  for (const name of listGateway(dataDirectory)) {
    // The new key is in its place already, or the one that is there goes on being used.
    if (name === machineKeyFile && keyPlaced) continue
    renameSync(join(dataDirectory, name), join(aside, name))
  }
  syncDirectory(aside)
  syncDirectory(dataDirectory)
}

function place(name: string, folder: string, dataDirectory: string): void {
  if (!existsSync(join(folder, name))) return
  renameSync(join(folder, name), join(dataDirectory, name))
  syncDirectory(dataDirectory)
}

function timeForName(): string {
  return new Date().toISOString().replace(/[:.]/g, '-')
}
