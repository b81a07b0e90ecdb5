import { valueAt } from '../../src/admin/contract/show-value.ts'
import { type Diagnostic, problem, warning } from '../../src/core/diagnostic.ts'
import { reportFault } from '../fault.ts'
import type { GlobalOptions } from '../global-options.ts'
import type { Io } from '../io.ts'
import type { GatewayClient } from '../operation.ts'
import { startHint } from '../socket-path.ts'
import { checkGateway, listDegraded, readStatus } from './gateway-checks.ts'
import type { DoctorParts, RunningGateway } from './parts.ts'

/** What the machine shows, then what the gateway says. */
export async function runChecks(
  options: Record<string, unknown>,
  io: Io,
  { dataDir }: GlobalOptions,
  reach: (change: Partial<GlobalOptions>) => Promise<GatewayClient>,
  { version, locate, checkMachine }: DoctorParts,
): Promise<Diagnostic[]> {
  const dataDirectory = await locate(dataDir, io.environment)
  const file = typeof options.config === 'string' ? options.config : null
  const answered = await askGateway(
    () => reach({ dataDir: dataDirectory, wait: false }),
    version,
    io.now(),
    startHint(dataDir, dataDirectory, io.environment),
  )
  const { diagnostics, ...running } = answered
  const examined = { dataDirectory, file, environment: io.environment, now: io.now(), ...running }
  return [...(await checkMachine(examined)), ...diagnostics]
}

/** What a gateway that runs says; that it says nothing is a diagnostic too. */
async function askGateway(
  reach: () => Promise<GatewayClient>,
  version: string,
  now: number,
  remedy: string,
): Promise<RunningGateway & { diagnostics: Diagnostic[] }> {
  let running: RunningGateway = { processId: null, settingsFile: null, degraded: [] }
  try {
    const gateway = await reach()
    const status = await readStatus(gateway)
    if (status === null) return { ...running, diagnostics: [warning('gateway', 'not running', remedy)] }
    const settingsFile = valueAt(status, 'settings_file')
    running = {
      processId: Number(valueAt(status, 'process_id')) || null,
      settingsFile: typeof settingsFile === 'string' || settingsFile === null ? settingsFile : undefined,
      degraded: listDegraded(status),
    }
    return { ...running, diagnostics: await checkGateway(gateway, status, version, now) }
  } catch (error) {
    const { cause, hint } = reportFault(error)
    // That it is not for this user says nothing of the gateway.
    const isForbidden = error instanceof Error && error.name === 'SocketForbidden'
    const diagnostic = isForbidden
      ? problem('gateway', `cannot connect: ${cause}`, hint)
      : problem('gateway', `no valid answer: ${cause}`, "See the gateway's log and restart it.")
    return { ...running, diagnostics: [diagnostic] }
  }
}
