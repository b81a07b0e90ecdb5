import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { formatBytes } from '../../admin/contract/show-value.ts'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { ok, problem, warning } from '../../core/diagnostic.ts'
import { journalFolder } from '../places.ts'

/** So much is waiting only when the store has not been able to take it. */
const muchBytes = 1e9

export function checkJournal(dataDirectory: string): Diagnostic[] {
  const directory = join(dataDirectory, journalFolder)
  const names = list(directory)
  if (names === null) return []
  if (names instanceof Error) {
    return [
      problem('journal', `${directory} cannot be read: ${names.message}`, 'Let the user of spgw read and write it.'),
    ]
  }
  const bytes = names.reduce(
    (sum, name) => sum + (statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
  const amount = `${names.length} ${names.length === 1 ? 'file' : 'files'}, ${formatBytes(bytes)}`
  const whole =
    bytes > muchBytes
      ? warning('journal', `${amount} wait for the store`, 'See what delays the store: spgw status.')
      : ok('journal', amount)
  return [whole, ...checkSetAside(join(directory, 'set-aside'))]
}

/** What ingestion could not read is kept for a person to look at, and for nobody else. */
function checkSetAside(directory: string): Diagnostic[] {
  const names = list(directory)
  if (names === null || names instanceof Error || names.length === 0) return []
  const remedy = `Keep them for the investigation, then delete them: ${directory}`
  return [warning('journal', `${names.length} damaged pieces were set aside`, remedy)]
}

/** null: there is none. */
function list(directory: string): string[] | Error | null {
  try {
    return readdirSync(directory)
  } catch (error) {
    const fault = error instanceof Error ? error : new Error(String(error))
    // What has no directory for it has none itself.
    return 'code' in fault && ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(String(fault.code)) ? null : fault
  }
}
