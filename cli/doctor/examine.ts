import { complain, type Finding, warn } from '../../src/core/finding.ts'
import { reportFault } from '../fault.ts'
import type { GlobalOptions } from '../global-options.ts'
import type { Io } from '../io.ts'
import type { Gateway } from '../operation.ts'
import { startHint } from '../socket-path.ts'
import { askStatus, examineGateway } from './ask-gateway.ts'
import type { DoctorParts } from './parts.ts'

/** What the machine shows, then what the gateway says. */
export async function examine(
  options: Record<string, unknown>,
  io: Io,
  { dataDir }: GlobalOptions,
  reach: (change: Partial<GlobalOptions>) => Promise<Gateway>,
  { version, locate, examineMachine }: DoctorParts,
): Promise<Finding[]> {
  const dataDirectory = await locate(dataDir, io.environment)
  const file = typeof options.config === 'string' ? options.config : null
  const answered = await askGateway(
    () => reach({ dataDir: dataDirectory, wait: false }),
    version,
    io.now(),
    startHint(dataDir),
  )
  const { processId, findings } = answered
  const examined = { dataDirectory, file, environment: io.environment, now: io.now(), processId }
  return [...(await examineMachine(examined)), ...findings]
}

/** What a gateway that runs says; that it says nothing is a finding too. */
async function askGateway(
  reach: () => Promise<Gateway>,
  version: string,
  now: number,
  remedy: string,
): Promise<{ processId: number | null; findings: Finding[] }> {
  let processId: number | null = null
  try {
    const gateway = await reach()
    const status = await askStatus(gateway)
    if (status === null) return { processId, findings: [warn('gateway', 'not running', remedy)] }
    processId = Number(Reflect.get(Object(status), 'process_id')) || null
    return { processId, findings: await examineGateway(gateway, status, version, now) }
  } catch (error) {
    const { cause, hint } = reportFault(error)
    // That it is not for this user says nothing of the gateway.
    const isForbidden = error instanceof Error && error.name === 'SocketForbidden'
    const finding = isForbidden
      ? complain('gateway', `cannot connect: ${cause}`, hint)
      : complain('gateway', `no valid answer: ${cause}`, "See the gateway's log and restart it.")
    return { processId, findings: [finding] }
  }
}
