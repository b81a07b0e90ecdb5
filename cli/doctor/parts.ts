import type { Diagnostic } from '../../src/core/diagnostic.ts'
import type { EnvironmentVariables } from '../io.ts'

/** What the composition root hands to `doctor`. */
export interface DoctorParts {
  version: string
  /** Where the gateway of this machine keeps its data, as the other commands find it; null: nowhere. */
  locate(dataDir: string | null, environment: EnvironmentVariables): Promise<string | null>
  /** What can be seen without asking the gateway. */
  checkMachine(examined: {
    dataDirectory: string | null
    file: string | null
    environment: EnvironmentVariables
    now: number
    processId: number | null
    degraded: readonly string[]
  }): Promise<Diagnostic[]>
}
