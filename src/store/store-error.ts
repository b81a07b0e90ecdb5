import { errorCode } from '../core/caught.ts'

/** It exists already, is still in use, or is gone; the message names what, and by whom. */
export class StoreConflict extends Error {
  override readonly name = 'StoreConflict'
  /** What to do, where the message alone does not say it. */
  readonly hint: string | undefined

  constructor(message: string, hint?: string) {
    super(message)
    this.hint = hint
  }
}

/** The store does not start: a newer database, a failed migration, a file that is no database. Nothing was changed. */
export class StoreRefused extends Error {
  override readonly name: string = 'StoreRefused'
  /** What to do. */
  readonly hint: string

  constructor(message: string, hint = 'Nothing was changed. Run it again with --verbose for the details.') {
    super(message)
    this.hint = hint
  }
}

/** Another process is using the database. */
export class StoreInUse extends StoreRefused {
  override readonly name = 'StoreInUse'
}

/** A configuration file owns what was to be changed. */
export class StoreOwned extends Error {
  override readonly name = 'StoreOwned'
}

/** Others have changed the configuration since it was read. Nothing was written. */
export class StoreMoved extends Error {
  override readonly name = 'StoreMoved'
}

/** A reading that nobody waits for any more. */
export class StoreStopped extends Error {
  override readonly name = 'StoreStopped'
}

/** Whoever follows what happens reads too slowly, and would miss some of it. */
export class StoreBehind extends Error {
  override readonly name = 'StoreBehind'
}

/** The storage is unhealthy (full, locked, read-only, damaged), or its thread has ended. The call changed nothing. */
export class StoreDegraded extends Error {
  override readonly name: string = 'StoreDegraded'
}

/** A node of a cluster that does not reach PostgreSQL, or is no longer a member: what it holds can be read, and not changed. */
export class StoreReadOnly extends StoreDegraded {
  override readonly name: string = 'StoreReadOnly'
}

/** An error as it crosses threads: a structured clone would drop its class. */
export interface PlainError {
  name: string
  message: string
  hint?: string
}

const classes = {
  StoreConflict,
  StoreRefused,
  StoreInUse,
  StoreOwned,
  StoreMoved,
  StoreStopped,
  StoreDegraded,
  StoreReadOnly,
}

export function toPlainError(error: unknown): PlainError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) }
  const { name, message } = error
  const hint = error instanceof StoreRefused || error instanceof StoreConflict ? error.hint : undefined
  return { name, message, ...(hint !== undefined && { hint }) }
}

export function fromPlainError({ name, message, hint }: PlainError): Error {
  const known = Object.entries(classes).find(([own]) => own === name)
  if (known) return new known[1](message, hint)
  return Object.assign(new Error(message), { name })
}

/** SQLite's result codes, as what they mean for whoever called. Anything else is a fault of ours and passes. */
export function translateSqliteError(error: unknown): unknown {
  const code = sqliteCode(error)
  if (code === null || !(error instanceof Error)) return error
  if (/^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)/.test(code)) return new StoreConflict(`exists already (${error.message})`)
  if (code.startsWith('SQLITE_CONSTRAINT_FOREIGNKEY'))
    return new StoreConflict('still in use, or refers to something that no longer exists')
  const fault = Object.entries(faultsByCode).find(([prefix]) => code.startsWith(prefix))
  return fault ? new StoreDegraded(`${fault[1]} (${code})`) : error
}

const faultsByCode: Record<string, string> = {
  SQLITE_FULL: 'the disk is full',
  // Of a small file beside the database, which is there while it is open.
  SQLITE_IOERR_SHMSIZE: 'the disk is full, or a quota',
  SQLITE_READONLY: 'the database is read-only',
  SQLITE_IOERR: 'the disk failed to read or write the database',
  SQLITE_CANTOPEN: 'the database cannot be opened',
  SQLITE_CORRUPT: 'the database is damaged: restore a backup',
  SQLITE_NOTADB: 'the file is not a database, or its header is damaged: restore a backup',
  SQLITE_BUSY: 'another process has locked the database',
  SQLITE_LOCKED: 'another process has locked the database',
}

/** A start that failed at a file of the database's. */
export function refuseToStart(path: string, error: unknown): StoreRefused {
  const { message, code } = translateSqliteError(error) as Error & { code?: unknown }
  return new StoreRefused(`${path}: ${message}`, adviseStart(message, code))
}

function adviseStart(message: string, code: unknown): string | undefined {
  if (code === 'ENOSPC' || code === 'EDQUOT' || message.startsWith('the disk is full'))
    return 'Free some space on that disk, then start it again.'
  // Of dlopen.
  return message.includes('failed to map segment')
    ? 'The database engine is unpacked into the data directory: mount its file system without noexec, or choose another directory.'
    : undefined
}

export function isDamage(error: unknown): boolean {
  return /^SQLITE_(CORRUPT|NOTADB)/.test(sqliteCode(error) ?? '')
}

/** The storage is what failed, and not what was given to it. */
export function isUnhealthy(error: unknown): boolean {
  return translateSqliteError(error) instanceof StoreDegraded
}

export function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(sqliteCode(error) ?? '')
}

function sqliteCode(error: unknown): string | null {
  const code = errorCode(error)
  return code?.startsWith('SQLITE_') ? code : null
}
