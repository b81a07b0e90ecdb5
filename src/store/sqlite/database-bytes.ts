import { statSync } from 'node:fs'

/** What a database takes on the disk, with what its write-ahead log holds; 0 where there is none. */
export function databaseBytes(path: string): number {
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return sizeOf(path) + sizeOf(`${path}-wal`)
}
