import { createHash, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, statSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from '../core/bytes/crc32.ts'
import { errorCode, errorText } from '../core/caught.ts'
import { reachFaultPoint } from '../core/fault-point.ts'
import {
  MachineKeyExists,
  MachineKeyMissing,
  MachineKeyUnreadable,
  MachineKeyUnsafe,
  MachineKeyWrong,
} from './seal-error.ts'

/**
 * The machine key's file: one line, `spgw-machine-key-1 <key id> <32 bytes in base64url> <CRC-32 of what stands before>`.
 * The checksum tells a damaged copy from a foreign key; the key id, from a hash of the key, names it without showing it.
 */
const formatName = 'spgw-machine-key-1'
const form = /^(spgw-machine-key-1 ([0-9a-f]{12}) ([\w-]{43})) ([0-9a-f]{8})\n?$/
export const machineKeyFile = 'machine.key'

export interface MachineKey {
  keyId: string
  key: KeyObject
  /** The file it was loaded from. */
  source: string
  /** The file that it is to replace, where the gateway could not do that itself. */
  replaces?: string
}

/** Where to look, in this order. Whoever reads the environment hands these in. */
export interface MachineKeySources {
  /** Configured by the operator: when it is given, nothing else is tried. */
  explicitPath: string | null
  /** systemd's `$CREDENTIALS_DIRECTORY`. */
  credentialsDirectory: string | null
  dataDirectory: string
}

/** Makes a new key. Never overwrites: throws `MachineKeyExists` when anything stands at that path. */
export function createMachineKey(path: string): MachineKey {
  const bytes = randomBytes(32)
  const key = machineKeyOf(bytes, path)
  const line = `${formatName} ${key.keyId} ${bytes.toString('base64url')}`
  writeNewFile(path, `${line} ${checksum(line)}\n`)
  return key
}

/** From 32 random bytes. */
export function machineKeyOf(bytes: Buffer, source: string): MachineKey {
  return { keyId: keyIdOf(bytes), key: createSecretKey(bytes), source }
}

function writeNewFile(path: string, text: string): void {
  const file = openNewFile(path)
  reachFaultPoint('machine-key.opened')
  try {
    writeSync(file, text)
    fsyncSync(file)
  } catch (error) {
    // Ours and incomplete; left there, it would stand in the way of the next try.
    unlinkSync(path)
    throw error
  } finally {
    closeSync(file)
  }
}

function openNewFile(path: string): number {
  try {
    return openSync(path, 'wx', 0o600)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
    throw new MachineKeyExists(`${path} already exists; it was not changed.`, 'Use it, or move it away first.')
  }
}

/** Throws `MachineKeyMissing`, `MachineKeyUnreadable`, `MachineKeyUnsafe` or `MachineKeyWrong`. */
export function loadMachineKey(sources: MachineKeySources): MachineKey {
  const { path, forbidden } = locate(sources)
  const text = readKeyFile(path, sources)
  refuseUnsafe(path, forbidden)
  const key = parseMachineKey(text, path)
  if (key === null) {
    throw new MachineKeyWrong(
      `${path} is not a machine key, or is damaged.`,
      'Restore it from your copy. Without it, no stored credential can be decrypted.',
    )
  }
  return key
}

/** Null when the text is no machine key, or not a whole one. */
export function parseMachineKey(text: string, source: string): MachineKey | null {
  const [, line, keyId, encoded, sum] = form.exec(text) ?? []
  if (line === undefined || checksum(line) !== sum) return null
  const key = machineKeyOf(Buffer.from(encoded ?? '', 'base64url'), source)
  return key.keyId === keyId ? key : null
}

function locate(sources: MachineKeySources): { path: string; forbidden: number } {
  if (sources.explicitPath !== null) return { path: sources.explicitPath, forbidden: 0o077 }
  for (const name of sources.credentialsDirectory === null ? [] : ['spgw-machine-key', machineKeyFile]) {
    const path = join(sources.credentialsDirectory ?? '', name)
    // systemd opens a credential to the service's user by an access list, which shows as group-readable.
    if (existsSync(path)) return { path, forbidden: 0o007 }
  }
  return { path: join(sources.dataDirectory, machineKeyFile), forbidden: 0o077 }
}

function readKeyFile(path: string, sources: MachineKeySources): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') {
      const hint =
        path === sources.explicitPath
          ? 'Put the key there, or correct the setting that names this path.'
          : 'Restore it from your copy. For a new data directory, `spgw init` creates one.'
      throw new MachineKeyMissing(`There is no machine key at ${path}.`, hint)
    }
    const reason = errorText(error)
    throw new MachineKeyUnreadable(
      `The machine key cannot be read: ${reason}.`,
      `Let the user that runs spgw read ${path}.`,
    )
  }
}

function refuseUnsafe(path: string, forbidden: number): void {
  // Windows has no such mode bits; its data directory is the user's own by its access list.
  if (process.platform === 'win32') return
  const { mode: bits, uid } = statSync(path)
  const mode = bits & 0o777
  // Kubernetes mounts a secret as root's, for the group of the volume: whoever is not root could not read it otherwise.
  const byGroup = uid === 0 && process.getuid?.() !== 0 ? 0o040 : 0
  if ((mode & forbidden & ~byGroup) === 0) return
  throw new MachineKeyUnsafe(
    `Other users can read the machine key ${path} (mode 0${mode.toString(8)}).`,
    `Run: chmod 600 '${path.replaceAll("'", "'\\''")}'`,
  )
}

function keyIdOf(bytes: Buffer): string {
  return createHash('sha256').update('spgw machine key id\0').update(bytes).digest('hex').slice(0, 12)
}

function checksum(line: string): string {
  return crc32(Buffer.from(line)).toString(16).padStart(8, '0')
}
