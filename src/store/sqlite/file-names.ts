import { closeSync, openSync, rmSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { errorText } from '../../core/caught.ts'

/** What an open database stands on. What changes something is called while no transaction is open. */
export interface Ground {
  /** Why nothing may be written any more; null: the database is where it was opened. */
  lost(): string | null
  /** Keeps a copy of what a lost database holds, while it is still open; once. */
  rescue(): void
  /** Whether only the write-ahead log is gone, which can be made anew. */
  logLost(): boolean
  /** Makes the write-ahead log anew, with all that was in it. */
  renewLog(): void
}

interface Statements {
  pragma(source: string): unknown
  prepare(source: string): { run(...parameters: unknown[]): unknown }
}

/**
 * The places of a database and its log, by inode. SQLite goes on writing into files that were deleted or replaced, where
 * nobody finds it again; so each write looks first.
 */
export function watchPlaces(path: string, sqlite: Statements): Ground {
  const log = `${path}-wal`
  const database = readPlace(path)
  let logPlace = readPlace(log)
  let copy: { file: string; words: string } | null = null
  return {
    lost() {
      const found = readPlace(path)
      if (found !== database && found !== 'unknown') {
        const what = found === null ? 'the database file was deleted' : 'the database was replaced by another file'
        return `${what}; ${copy?.words ?? 'put it back'}`
      }
      if (copy !== null) rmSync(copy.file, { force: true })
      copy = null
      return null
    },
    rescue() {
      copy ??= rescueInto(`${path}.rescued-${Date.now()}`, sqlite)
    },
    logLost() {
      const found = readPlace(log)
      // Made with the first write, if opening wrote nothing.
      logPlace ??= found
      return logPlace !== null && found !== logPlace && found !== 'unknown'
    },
    renewLog() {
      // What stands in the log, which is still open, is moved into the database.
      sqlite.pragma('journal_mode = delete')
      sqlite.pragma('journal_mode = wal')
      logPlace = readPlace(log)
    },
  }
}

function rescueInto(file: string, sqlite: Statements) {
  try {
    // SQLite takes an empty file as well, and this one is nobody else's to read.
    closeSync(openSync(file, 'wx', 0o600))
    sqlite.prepare('vacuum into ?').run(file)
    return {
      file,
      words: `its contents were saved to ${basename(file)}: stop the gateway, rename that file to the database's name, start again`,
    }
  } catch (error) {
    const reason = errorText(error)
    return { file, words: `put it back, or stop the gateway and restore a backup (a copy failed: ${reason})` }
  }
}

/** null: there is nothing. `unknown`: it cannot be told, which is no reason to stop. */
function readPlace(path: string): string | null {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    return found === undefined ? null : `${found.dev}:${found.ino}`
  } catch {
    return 'unknown'
  }
}
