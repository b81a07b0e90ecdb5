import { homedir } from 'node:os'
import type { EnvironmentVariables } from './io.ts'
import type { HostContext } from './socket-path.ts'

/** This machine, for whoever runs the process. */
export function hostContext(environment: EnvironmentVariables): HostContext {
  return { environment, home: findHome(), platform: process.platform }
}

/** Null: there is none. Containers may run as a user number that no user has; Node throws for it where `HOME` is not set. */
function findHome(): string | null {
  try {
    return homedir() || null
  } catch {
    return null
  }
}
