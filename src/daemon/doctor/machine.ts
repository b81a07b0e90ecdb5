import { readFileSync } from 'node:fs'
import type { Settings } from '../../config/settings.ts'
import { SettingsRefused } from '../../config/settings-refused.ts'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { ok, problem, warning } from '../../core/diagnostic.ts'
import { groupDigits } from '../../core/units.ts'
import { fewestDescriptors } from '../require-descriptors.ts'
import { checkCertificates } from './certificates.ts'
import { checkCluster } from './cluster.ts'
import { checkDirectory } from './directory.ts'
import { checkJournal } from './journal.ts'
import { checkKeyAndDatabase } from './key-and-database.ts'
import { checkListeners } from './listeners.ts'
import { checkTelemetry } from './telemetry.ts'

export interface Examined {
  /** `--data-dir`, or where the command line found a gateway. */
  dataDirectory: string | null
  /** `--config`. */
  file: string | null
  environment: Readonly<Record<string, string | undefined>>
  now: number
  /** Of the gateway that runs there; null: none answers. */
  processId: number | null
  /** What that gateway was started with; null: no file. undefined: it does not say. */
  settingsFile: string | null | undefined
  /** What of that gateway is degraded. */
  degraded: readonly string[]
}

/** Everything that can be seen from this machine, with or without a gateway that runs. Never throws for what it looks at. */
export async function checkMachine({ environment: own, ...given }: Examined): Promise<Diagnostic[]> {
  // Passwords are in the environment of the gateway, and seldom in that of whoever looks after it.
  const started = given.processId === null ? {} : readEnvironment(given.processId)
  const examined = { ...given, environment: { ...started, ...own } }
  const { settings, diagnostics } = await checkSettings(examined, started === null)
  const limits = checkLimits(examined.processId, settings)
  if (settings === null) return [...diagnostics, ...limits]
  const isRunning = examined.processId !== null
  return [
    ...diagnostics,
    ...checkDirectory(settings.dataDirectory, examined.now),
    ...(await checkKeyAndDatabase(settings, examined.environment.CREDENTIALS_DIRECTORY ?? null)),
    ...checkJournal(settings.dataDirectory),
    ...(await checkListeners(settings, isRunning)),
    ...checkCertificates(settings, examined.now),
    ...(await checkTelemetry(settings)),
    ...(await checkCluster(settings, isRunning, examined.degraded)),
    ...limits,
  ]
}

/** `isHidden`: a gateway runs, and what it was started with cannot be read from here. */
async function checkSettings(
  examined: Omit<Examined, 'degraded'>,
  isHidden: boolean,
): Promise<{ settings: Settings | null; diagnostics: Diagnostic[] }> {
  const { loadSettings } = await import('../../config/load.ts')
  const { dataDirectory, file, settingsFile, environment, processId } = examined
  const isRunning = processId !== null
  try {
    const flags = { dataDir: dataDirectory ?? undefined }
    const settings = loadSettings({ file: file ?? settingsFile ?? undefined, environment, flags })
    const other = isRunning && settingsFile !== undefined && settings.file !== settingsFile
    const runs = other ? `; the gateway that runs was started with ${settingsFile ?? 'no file'}` : ''
    return { settings, diagnostics: [ok('settings', `the settings are valid (${settings.file ?? 'no file'})${runs}`)] }
  } catch (error) {
    if (!(error instanceof SettingsRefused)) throw error
    const diagnostics = error.problems.map(({ place, message }) =>
      /^the variable \w+ is not set$/.test(message)
        ? showUnset(`${place}: ${message} in this shell`, isHidden)
        : problem('settings', `${place}: ${message}`, adviseSettings(place, message)),
    )
    return { settings: null, diagnostics }
  }
}

function showUnset(message: string, isHidden: boolean): Diagnostic {
  if (!isHidden)
    return problem('settings', message, 'Run the check where it is set; the gateway does not start without it.')
  const remedy = "Run the check as root or as the gateway's user (sudo spgw doctor), or set it here too."
  return warning('settings', `${message}; the gateway that runs may have it`, remedy)
}

function adviseSettings(place: string, message: string): string {
  return /\(E(ACCES|PERM)\)$/.test(message)
    ? "Run the check as the file's owner or as root: sudo spgw doctor."
    : `Fix ${place}; the gateway does not restart until then.`
}

/** What a process was started with; null: it is not for this user to read, or not to be had on this system. */
function readEnvironment(process: number): Record<string, string> | null {
  try {
    const lines = readFileSync(`/proc/${process}/environ`, 'utf8').split('\0')
    return Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    )
  } catch {
    return null
  }
}

/** Each request holds two files, one to each side; a gateway that may open few of them refuses clients under load. */
const fewFiles = 4096

/** Of the gateway that runs, else what one started from here would get. */
function checkLimits(processId: number | null, settings: Settings | null): Diagnostic[] {
  if (process.platform !== 'linux') return []
  const limit = readLimit(processId ?? 'self')
  if (limit === null) return []
  const message = `${groupDigits(limit)} files and connections may be open at once`
  if (limit >= fewFiles) return [ok('file limit', message)]
  const remedy = 'Raise it: LimitNOFILE=65536 in the service, or ulimit -n 65536 before spgw serve.'
  const fewest = settings === null ? 0 : fewestDescriptors(settings)
  if (limit < fewest)
    return [problem('file limit', `only ${message}, and serving takes ${groupDigits(fewest)}`, remedy)]
  return [warning('file limit', `only ${message}`, remedy)]
}

/** Node raises its soft limit to the hard one when it starts. */
function readLimit(process: number | 'self'): number | null {
  try {
    const line = /^Max open files\s+(\S+)/m.exec(readFileSync(`/proc/${process}/limits`, 'utf8'))?.[1]
    return line === undefined || line === 'unlimited' ? null : Number(line)
  } catch {
    // Another user's process: what it may do is not for us to read.
    return null
  }
}
