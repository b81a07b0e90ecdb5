import type { Reseal, SealedValue } from '../../sealing/reseal.ts'
import type { PlainError } from '../store-error.ts'

/** What a backup thread is started with. */
export type BackupThreadData = BackupTask & {
  /** The SQLite addon's path in the packaged executable. */
  nativeBinding?: string
}

export type BackupTask =
  /** Copies the database of a running gateway into a new file. */
  | { task: 'take'; databasePath: string; copyPath: string; records: boolean; credentials: boolean }
  /**
   * Makes the database of a backup, as it stands at `copyPath`, into one that a gateway can start with. `databasePath`
   * is where it is to go: no gateway starts there until `end` is said.
   */
  | { task: 'receive'; databasePath: string; copyPath: string }

/** The thread has no key: it says what is sealed, and is told what to write instead. */
export type BackupRequest =
  | { kind: 'begin' | 'end' }
  | {
      kind: 'reseal'
      changes: Reseal['changes']
      /** Identities of values that are removed from the database, since nobody could open them. */
      leave: string[]
    }

export type BackupMessage =
  /** Answers the start, and waits for `begin`. */
  | { kind: 'ready' }
  | { kind: 'sealed'; values: SealedValue[] }
  /** Waits for `end`. */
  | { kind: 'done'; contents: BackupContents }
  | { kind: 'failed'; error: PlainError }

export interface BackupContents {
  /** The last migration. */
  schema: string
  providers: number
  keys: number
  records: number
}
