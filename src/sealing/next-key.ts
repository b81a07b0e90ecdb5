import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { errorCode } from '../core/caught.ts'
import { reachFaultPoint } from '../core/fault-point.ts'
import { checkWitness, type Keyring, makeKeyring } from './keyring.ts'
import { createMachineKey, type MachineKey, machineKeyFile, parseMachineKey } from './machine-key.ts'
import { MachineKeyExists, MachineKeyWrong, RotationRefused } from './seal-error.ts'

/**
 * Where the key of a rotation stands until it is the machine key, in the data directory. Which of the two is live is
 * said by the database alone, whose witness is re-sealed in the very transaction that re-seals everything else: a
 * rotation that was killed has happened or has not, and the next start tidies up.
 */
export const nextKeyFile = 'machine.key.next'

/** On the disk when it returns. Throws `RotationRefused` while another rotation has not ended. */
export function createNextKey(dataDirectory: string): MachineKey {
  try {
    const key = createMachineKey(join(dataDirectory, nextKeyFile))
    syncDirectory(dataDirectory)
    return key
  } catch (error) {
    if (!(error instanceof MachineKeyExists)) throw error
    throw new RotationRefused(
      `A rotation is in progress, or has left ${join(dataDirectory, nextKeyFile)} behind.`,
      'Wait for it, or restart the gateway, which cleans up.',
    )
  }
}

export function removeNextKey(dataDirectory: string): void {
  rmSync(join(dataDirectory, nextKeyFile), { force: true })
  syncDirectory(dataDirectory)
}

/** Puts it in place of the old one where that is the data directory's own file; any other file is its operator's to change. */
export function installNextKey(next: MachineKey, dataDirectory: string, oldSource: string): MachineKey {
  const own = join(dataDirectory, machineKeyFile)
  if (resolve(oldSource) !== resolve(own)) return { ...next, replaces: oldSource }
  renameSync(join(dataDirectory, nextKeyFile), own)
  reachFaultPoint('seal-rotate.key-installed')
  syncDirectory(dataDirectory)
  return { ...next, source: own }
}

/**
 * The keyring for this database, after a rotation at whatever point it was left; finishes it on the disk too, so only who
 * has the data directory alone may call it. Throws `MachineKeyWrong` when neither key is the right one.
 */
export function settleKeyring(configured: MachineKey, witness: string | null, dataDirectory: string): Keyring {
  const next = loadNextKey(dataDirectory)
  const keyring = makeKeyring(configured)
  if (next !== null && !isRight(keyring, witness) && isRight(makeKeyring(next), witness))
    return makeKeyring(installNextKey(next, dataDirectory, configured.source), [configured])
  checkWitness(keyring, witness)
  // Of a rotation that came to nothing, or one whose key the operator has put in its place since.
  removeNextKey(dataDirectory)
  return keyring
}

function isRight(keyring: Keyring, witness: string | null): boolean {
  try {
    checkWitness(keyring, witness)
    return true
  } catch (error) {
    if (error instanceof MachineKeyWrong) return false
    throw error
  }
}

/** Null when there is none, or none that is whole: one that was not written to its end has sealed nothing. */
function loadNextKey(dataDirectory: string): MachineKey | null {
  const path = join(dataDirectory, nextKeyFile)
  try {
    return parseMachineKey(readFileSync(path, 'utf8'), path)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
}

/** A new or renamed file is certain to be found after a power cut only when its directory is on the disk. */
export function syncDirectory(path: string): void {
  // Windows opens no directories.
  if (process.platform === 'win32') return
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}
