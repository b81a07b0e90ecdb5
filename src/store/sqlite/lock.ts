import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { errorCode } from '../../core/caught.ts'
import { isBusy, refuseToStart, StoreInUse } from '../store-error.ts'
import type { SqliteFile } from './sqlite.ts'

export interface DatabaseLock {
  release(): void
}

/** How often the holder's pid is looked for: it is written only after the lock is taken. */
const looks = 20
const pauseMs = 25

/**
 * Makes this process the only one at work on a database, until it lets go or ends. The lock is the kernel's own (SQLite's,
 * on a file beside the database), so it goes with its process: neither a dead one nor a recycled pid can hold it.
 * Throws `StoreInUse` with the holder's pid.
 */
export async function lockDatabase({ path, nativeBinding }: SqliteFile): Promise<DatabaseLock> {
  const lockPath = join(dirname(path), 'spgw.lock')
  const pidPath = join(dirname(path), 'spgw.pid')
  const lock = takeLock(lockPath, nativeBinding)
  if (lock === null) throw inUse(dirname(path), await findHolder(pidPath))
  try {
    writeFileSync(pidPath, `${process.pid}\n`, { mode: 0o600 })
  } catch (error) {
    lock.close()
    throw refuseToStart(pidPath, error)
  }
  return {
    release() {
      rmSync(pidPath, { force: true })
      lock.close()
    },
  }
}

/** null: somebody else has it. */
function takeLock(path: string, nativeBinding: string | undefined): Sqlite.Database | null {
  try {
    // Opened only where it is not there: closing a file again would give up the locks that this process has on it.
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
    const lock = new Sqlite(path, { timeout: 0, ...(nativeBinding === undefined ? {} : { nativeBinding }) })
    lock.pragma('journal_mode = memory')
    lock.exec('begin exclusive')
    return lock
  } catch (error) {
    if (isBusy(error)) return null
    throw refuseToStart(path, error)
  }
}

/** A pid that nobody has is that of the holder before. */
async function findHolder(pidPath: string): Promise<number | null> {
  for (let left = looks; left > 0; left--) {
    const pid = existsSync(pidPath) ? Number(readFileSync(pidPath, 'utf8')) : Number.NaN
    if (Number.isInteger(pid) && pid > 0 && isAlive(pid)) return pid
    await wait(pauseMs)
  }
  return null
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // It is there, and somebody else's.
    return errorCode(error) === 'EPERM'
  }
}

function inUse(directory: string, pid: number | null): StoreInUse {
  const who = pid === null ? 'another process' : `another spgw (process ${pid})`
  return new StoreInUse(`${who} is using ${directory}`, 'Stop it first, or use another --data-dir.')
}
