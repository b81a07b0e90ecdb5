import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { errorText } from '../../core/caught.ts'
import { isBusy, StoreRefused, translateSqliteError } from '../store-error.ts'

/** An open database, and where it lies. */
export interface DatabaseFile {
  path: string
  nativeBinding?: string | undefined
  sqlite: Sqlite.Database
}

/** Of copies that were made before upgrades: the last one, and one to go back further. */
const keptCopies = 2

/**
 * The database as it is before the upgrade to a schema, in one file beside it: whole, checked, and on the disk when
 * this returns its path. Throws `StoreRefused` and leaves nothing behind.
 */
export function copyBeforeUpgrade({ path, nativeBinding, sqlite }: DatabaseFile, schemaVersion: string): string {
  const copy = `${path}.before-v${Number.parseInt(schemaVersion, 10)}`
  const partial = `${copy}.partial`
  removeDatabase(partial)
  try {
    // Made here, so that it is nobody else's to read.
    closeSync(openSync(partial, 'wx', 0o600))
    sqlite.prepare('vacuum into ?').run(partial)
    checkCopy(partial, nativeBinding)
    flush(partial)
    renameSync(partial, copy)
    flush(dirname(copy))
    return copy
  } catch (error) {
    removeDatabase(partial)
    if (isBusy(error)) throw error
    const cause = translateSqliteError(error)
    const reason = errorText(cause)
    throw new StoreRefused(
      `the copy before the upgrade could not be created, and nothing was changed: ${reason}`,
      'Free as much space as the database uses, then start again.',
    )
  }
}

export function removeOldCopies(path: string): void {
  const prefix = `${basename(path)}.before-v`
  const versions = readdirSync(dirname(path))
    .filter((name) => name.startsWith(prefix))
    .map((name) => Number(name.slice(prefix.length)))
    .filter((version) => Number.isInteger(version))
    .sort((one, other) => other - one)
  for (const version of versions.slice(keptCopies)) removeDatabase(join(dirname(path), `${prefix}${version}`))
}

function checkCopy(path: string, nativeBinding: string | undefined): void {
  const copy = new Sqlite(path, nativeBinding === undefined ? {} : { nativeBinding })
  try {
    const found = copy.pragma('quick_check(1)', { simple: true })
    if (found !== 'ok') throw new Error(`the copy is damaged: ${String(found)}`)
  } finally {
    copy.close()
  }
}

function flush(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function removeDatabase(path: string): void {
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(path + suffix, { force: true })
}
