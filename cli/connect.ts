import { existsSync, readFileSync } from 'node:fs'
import { createAdminClient } from '../src/admin/client.ts'
import { openSocketTransport } from '../src/admin/socket-transport.ts'
import { CommandFault, exitStatus } from './fault.ts'
import type { Connect } from './run.ts'
import { type Files, findSocket, type Surroundings } from './socket-path.ts'

/** Commands reach the gateway over its admin socket; a gateway that may be starting is waited for. */
export function connectThroughSocket(surroundings: Surroundings, version: string): Connect {
  return async ({ dataDir, waitMs }) => {
    const place = findSocket(dataDir, surroundings, files)
    if (place === null) {
      throw new CommandFault(
        'There is no data directory to look in.',
        'Name it with --data-dir.',
        exitStatus.notRunning,
      )
    }
    const transport = openSocketTransport(place.socketPath, { waitMs: place.exists ? waitMs : 0 })
    return createAdminClient({ transport, version, surface: 'cli' })
  }
}

const files: Files = { exists: existsSync, read: readText }

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // Not there, or not for us to read: both mean that nothing is noted here.
    return null
  }
}
