import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openCaller } from '../src/admin/client-calls.ts'
import { errorCode } from '../src/core/caught.ts'
import { catalog } from './catalog.ts'
import { CommandFault, exitStatus } from './fault.ts'
import type { Connect } from './run.ts'
import { type Files, findSocket, type HostContext, startHint } from './socket-path.ts'

/** Commands reach the gateway over its admin socket, or elsewhere over its console; one that may be starting is waited for. */
export function connectGateway(surroundings: HostContext, version: string, surface: 'cli' | 'tui' = 'cli'): Connect {
  return async ({ dataDir, waitMs, asksForNow = false, remote, onDegraded }) => {
    if (remote !== null) return openCaller({ destination: remote, version, surface, waitMs: 0, lostHint, onDegraded })
    const place = findSocket(dataDir, surroundings, files)
    if (place === null) {
      throw new CommandFault('No data directory was found.', 'Set it with --data-dir.', exitStatus.notRunning)
    }
    const destination = { kind: 'socket', path: place.socketPath } as const
    return openCaller({
      destination,
      version,
      surface,
      waitMs: place.exists ? waitAsLong(waitMs, performance.now()) : 0,
      ...(asksForNow ? { hasEnded: () => hasDied(place.dataDirectory) } : {}),
      startHint: startHint(dataDir, place.dataDirectory, surroundings.environment),
      lostHint,
      onDegraded,
    })
  }
}

/** The gateway that wrote `spgw.pid` ended without removing it. */
function hasDied(dataDirectory: string): boolean {
  const processId = Number(readText(join(dataDirectory, 'spgw.pid')))
  if (!Number.isInteger(processId) || processId <= 0) return false
  try {
    process.kill(processId, 0)
    // One that is dead keeps its number until its parent has seen that.
    return /\) Z [^)]*$/.test(readText(`/proc/${processId}/stat`) ?? '')
  } catch (error) {
    // Any other failure is that of a process that is there and somebody else's.
    return errorCode(error) === 'ESRCH'
  }
}

/** A gateway starts in some times what a command takes: where that took this command long, it does so for the gateway as well. */
export function waitAsLong(waitMs: number, startedInMs: number): number {
  return waitMs === 0 ? 0 : Math.max(waitMs, 20 * startedInMs)
}

/** What changes something writes its line of the audit in the same transaction: the line is there, or nothing was done. */
function lostHint(path: readonly string[]): string {
  const operation = catalog.find(({ name }) => name === path.join('.'))
  if (operation === undefined || operation.meta.effect === 'read')
    return 'Check that the gateway is running (spgw status), then try again.'
  return `The change may or may not have been made. When the gateway is running again, check: spgw audit list --operation ${path[0]}`
}

/** The file system as `socket-path.ts` asks it. */
export const files: Files = { exists: existsSync, read: readText }

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // Not there, or not for us to read: both mean that nothing is noted here.
    return null
  }
}
