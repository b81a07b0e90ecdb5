import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { hasProgram } from './executable.ts'

/** Surroundings that a gateway is started in (`GatewayOptions`), and how its storage is made sick and well from outside. */
export interface Surroundings {
  launcher?: string[]
  environment?: Record<string, string>
  seenAt?(processId: number): string
}

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'spgw-sick-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export interface Mount {
  path: string
  bytes: number
}

/** Root mounts; anybody else may as the root of a namespace of their own, where the system lets them. */
const unshare = ['unshare', ...(process.getuid?.() === 0 ? [] : ['--map-root-user']), '--mount']

export function canMount(): boolean {
  const trial = ['sh', '-c', 'mount -t tmpfs -o size=64k tmpfs /mnt']
  // SPGW_TEST_NO_MOUNT: to try here what is done elsewhere.
  if (process.platform !== 'linux' || process.env.SPGW_TEST_NO_MOUNT) return false
  return spawnSync(unshare[0] ?? '', [...unshare.slice(1), ...trial]).status === 0
}

/** The gateway alone sees these file systems, and they go with it. */
export function onTmpfs(dataDirectory: string, mounts: readonly Mount[]): Surroundings {
  const steps = mounts.map(
    ({ path, bytes }) => `mkdir -p '${path}' && mount -t tmpfs -o size=${bytes},mode=700 tmpfs '${path}'`,
  )
  return {
    launcher: [...unshare, 'sh', '-c', `${steps.join(' && ')} && exec "$@"`, 'sh'],
    seenAt: (processId) => join('/proc', String(processId), 'root', dataDirectory),
  }
}

/** Takes what is left; the result gives it back. */
export function fillDisk(directory: string): () => void {
  const path = join(directory, 'filler')
  const file = openSync(path, 'w')
  try {
    for (let size = 1 << 20; size >= 512; size >>= 1) writeUntilFull(file, Buffer.alloc(size))
  } finally {
    closeSync(file)
  }
  return () => rmSync(path)
}

function writeUntilFull(file: number, bytes: Buffer): void {
  try {
    while (writeSync(file, bytes) > 0);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  }
}

/** Where nothing may be mounted: a limit on the size of files, put on the running process, stops whatever makes one grow. */
export function limitFileSize(processId: number, limit: number | 'unlimited'): void {
  const { status, stderr } = spawnSync('prlimit', ['--pid', String(processId), `--fsize=${limit}:`])
  if (status !== 0) throw new Error(`prlimit failed: ${String(stderr)}`)
}

export interface FaultyDisk extends Surroundings {
  /** From now on, what changes the database or the journal fails with this error; null: it works again. */
  fail(what: { database?: DiskFault | null; journal?: DiskFault | null }): void
}

type DiskFault = 'EROFS' | 'EIO' | 'ENOSPC' | 'EACCES'

export const canFakeDisk = () => process.platform === 'linux' && hasProgram('cc')

/** A disk whose calls fail as told, by a library that is loaded before the C library's own. */
export function fakeDisk(): FaultyDisk {
  const directory = temporaryDirectory()
  const library = join(directory, 'disk-fault.so')
  const source = join(import.meta.dirname, 'disk-fault.c')
  const { status, stderr } = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl'])
  if (status !== 0) throw new Error(`cc failed: ${String(stderr)}`)
  const control = join(directory, 'control')
  const faults = Buffer.alloc(2)
  writeFileSync(control, faults)
  return {
    environment: { LD_PRELOAD: library, SPGW_FAULT_CONTROL: control },
    fail({ database, journal }) {
      if (database !== undefined) faults[0] = numberOf(database)
      if (journal !== undefined) faults[1] = numberOf(journal)
      // In place: the library has the file mapped.
      const file = openSync(control, 'r+')
      writeSync(file, faults, 0, faults.length, 0)
      closeSync(file)
    },
  }
}

function numberOf(fault: DiskFault | null): number {
  return fault === null ? 0 : constants.errno[fault]
}

/** The gateway sees its data directory, and may change nothing in it. */
export function readOnly(dataDirectory: string): Surroundings {
  const bind = `mount --bind '${dataDirectory}' '${dataDirectory}' && mount -o remount,bind,ro '${dataDirectory}'`
  return { launcher: [...unshare, 'sh', '-c', `${bind} && exec "$@"`, 'sh'] }
}
