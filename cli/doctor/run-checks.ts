import { type Diagnostic, problem, warning } from '../../src/core/diagnostic.ts'
import { reportFault } from '../fault.ts'
import type { GlobalOptions } from '../global-options.ts'
import type { Io } from '../io.ts'
import type { GatewayClient } from '../operation.ts'
import { startHint } from '../socket-path.ts'
import { checkGateway, listDegraded, readStatus } from './gateway-checks.ts'
import type { DoctorParts } from './parts.ts'

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
  const { processId, degraded, diagnostics } = answered
  const examined = { dataDirectory, file, environment: io.environment, now: io.now(), processId, degraded }
  return [...(await checkMachine(examined)), ...diagnostics]
}

/** What a gateway that runs says; that it says nothing is a diagnostic too. */
async function askGateway(
  reach: () => Promise<GatewayClient>,
  version: string,
  now: number,
  remedy: string,
): Promise<{ processId: number | null; degraded: readonly string[]; diagnostics: Diagnostic[] }> {
  let processId: number | null = null
  let degraded: readonly string[] = []
  try {
    const gateway = await reach()
    const status = await readStatus(gateway)
    if (status === null) return { processId, degraded, diagnostics: [warning('gateway', 'not running', remedy)] }
    processId = Number(Reflect.get(Object(status), 'process_id')) || null
    degraded = listDegraded(status)
    return { processId, degraded, diagnostics: await checkGateway(gateway, status, version, now) }
  } catch (error) {
    const { cause, hint } = reportFault(error)
    // That it is not for this user says nothing of the gateway.
    const isForbidden = error instanceof Error && error.name === 'SocketForbidden'
    const diagnostic = isForbidden
      ? problem('gateway', `cannot connect: ${cause}`, hint)
      : problem('gateway', `no valid answer: ${cause}`, "See the gateway's log and restart it.")
    return { processId, degraded, diagnostics: [diagnostic] }
  }
}
