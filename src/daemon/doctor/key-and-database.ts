import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatBytes } from '../../admin/contract/show-value.ts'
import type { Settings } from '../../config/settings.ts'
import { errorCode, errorText } from '../../core/caught.ts'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { ok, problem } from '../../core/diagnostic.ts'
import { groupDigits } from '../../core/units.ts'
import { makeKeyring, witnessIdentity } from '../../sealing/keyring.ts'
import { loadMachineKey, type MachineKey, type MachineKeySources } from '../../sealing/machine-key.ts'
import { MachineKeyMissing, SealBroken } from '../../sealing/seal-error.ts'
import type { DatabaseCheck } from '../../store/sqlite/check-database.ts'
import { databaseBytes } from '../../store/sqlite/database-bytes.ts'
import { extractNativeBinding } from '../native-binding.ts'
import { databaseFile } from '../places.ts'

const restore = 'Restore a backup: spgw restore FILE --force keeps the present data.'

/** The machine key, the database, and whether the one opens what is sealed in the other. */
export async function checkKeyAndDatabase(
  settings: Settings,
  credentialsDirectory: string | null,
): Promise<Diagnostic[]> {
  const { dataDirectory, machineKeyFile: explicitPath } = settings
  const path = join(dataDirectory, databaseFile)
  if (!existsSync(path)) {
    // Or a file has its name; that it is no directory has been said.
    if (!existsSync(`${dataDirectory}/.`)) return []
    return [problem('database', `there is none in ${dataDirectory}`, 'Create one: spgw init, or spgw serve.')]
  }
  const { key, diagnostic } = checkKey({ explicitPath, credentialsDirectory, dataDirectory })
  const examination = await withBinding(dataDirectory, (binding) => readDatabase(path, binding))
  if ('check' in examination) return [diagnostic, examination]
  return [
    diagnostic,
    ...evaluateDatabase(path, examination),
    ...evaluateSeal(key, examination),
    ...evaluateAudit(examination),
  ]
}

function checkKey(sources: MachineKeySources): { key: MachineKey | null; diagnostic: Diagnostic } {
  try {
    const key = loadMachineKey(sources)
    return { key, diagnostic: ok('machine key', `${key.keyId} in ${key.source}`) }
  } catch (error) {
    const { message, hint = 'Restore it from its copy.' } = error as Error & { hint?: string }
    // A service that does not run passes on nothing, and then only its unit knows where the key is.
    const isUnnamed = sources.explicitPath === null && sources.credentialsDirectory === null
    const remedy = error instanceof MachineKeyMissing && isUnnamed ? `${passedBySystemd} Otherwise: ${hint}` : hint
    return { key: null, diagnostic: problem('machine key', message.replace(/\.$/, ''), remedy) }
  }
}

const passedBySystemd =
  'If systemd passes it to the service, name its file: sudo SPGW_MACHINE_KEY_FILE=/etc/spgw/machine.key spgw doctor.'

async function readDatabase(path: string, nativeBinding: string | undefined): Promise<DatabaseCheck | Diagnostic> {
  const { checkDatabase } = await import('../../store/sqlite/check-database.ts')
  try {
    return await checkDatabase({ path, ...(nativeBinding === undefined ? {} : { nativeBinding }) })
  } catch (error) {
    const message = errorText(error)
    return problem('database', `${path} cannot be read: ${message}`, remedyFor(error))
  }
}

/** Only what is damaged is worth a backup: it takes away what came since. */
export function remedyFor(error: unknown): string {
  const code = errorCode(error) ?? ''
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) return 'End the other program that has it open, then check again.'
  if (/^SQLITE_(CANTOPEN|PERM|READONLY|AUTH)/.test(code))
    return 'Let the user of spgw read and write it; as that user or as root, check again: sudo spgw doctor.'
  // The file beside it that stands there while it is open found no room.
  if (/^SQLITE_(FULL|IOERR_SHMSIZE)/.test(code)) return 'Free some space on its disk, then check again.'
  return restore
}

/** The addon goes where the gateway would put it; where that cannot be written, into a place of its own for the moment. */
async function withBinding<Value>(
  directory: string,
  use: (binding: string | undefined) => Promise<Value>,
): Promise<Value> {
  try {
    return await use(extractNativeBinding(directory))
  } catch {
    const own = mkdtempSync(join(tmpdir(), 'spgw-'))
    try {
      return await use(extractNativeBinding(own))
    } finally {
      rmSync(own, { recursive: true, force: true })
    }
  }
}

function evaluateDatabase(path: string, { damage, schema, age }: DatabaseCheck): Diagnostic[] {
  const size = formatBytes(databaseBytes(path))
  const diagnostics = damage.map((line) => problem('database', `it is damaged: ${line}`, restore))
  if (schema === null) return [...diagnostics, problem('database', `${path} was not created by spgw`, restore)]
  if (age === 'newer') {
    const remedy = 'Use the version of spgw that changed it, or go back: docs/operations.md, Upgrade.'
    return [...diagnostics, problem('database', `a newer spgw has changed it (schema ${schema})`, remedy)]
  }
  if (damage.length > 0) return diagnostics
  const note = age === 'older' ? '; the next start brings it up to date' : ''
  return [ok('database', `${size}, undamaged, schema ${schema}${note}`)]
}

function evaluateSeal(key: MachineKey | null, { witness }: DatabaseCheck): Diagnostic[] {
  if (key === null || witness === null) return []
  try {
    makeKeyring(key).open(witness, witnessIdentity)
    return [ok('seal', 'the machine key decrypts the stored secrets')]
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error
    const remedy = 'Restore the machine key of this database from your copy.'
    return [problem('seal', 'the machine key does not decrypt the stored secrets', remedy)]
  }
}

function evaluateAudit({ audit }: DatabaseCheck): Diagnostic[] {
  if (audit === null) return []
  const lines = `${groupDigits(audit.lines)} lines`
  if (audit.flaw === null) return [ok('audit', `${lines}, each chained to the one before`)]
  const remedy = 'The log was changed outside spgw: compare it with an export or a backup.'
  return [problem('audit', `the chain is broken at line ${audit.flaw.sequence}: ${audit.flaw.reason}`, remedy)]
}
