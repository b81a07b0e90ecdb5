import type { Diagnostic } from '../../src/core/diagnostic.ts'
import type { EnvironmentVariables } from '../io.ts'

export interface RunningGateway {
  /** null: none answers. */
  processId: number | null
  /** What it was started with; null: no file. undefined: one of an earlier version, which does not say. */
  settingsFile: string | null | undefined
  degraded: readonly string[]
}

/** What the composition root hands to `doctor`. */
export interface DoctorParts {
  version: string
  /** Where the gateway of this machine keeps its data, as the other commands find it; null: nowhere. */
  locate(dataDir: string | null, environment: EnvironmentVariables): Promise<string | null>
  /** What can be seen without asking the gateway. `file`: `--config`. */
  checkMachine(
    examined: RunningGateway & {
      dataDirectory: string | null
      file: string | null
      environment: EnvironmentVariables
      now: number
    },
  ): Promise<Diagnostic[]>
}
