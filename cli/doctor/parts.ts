import type { Finding } from '../../src/core/finding.ts'
import type { Environment } from '../io.ts'

/** What the composition root hands to `doctor`. */
export interface DoctorParts {
  version: string
  /** Where the gateway of this machine keeps its data, as the other commands find it; null: nowhere. */
  locate(dataDir: string | null, environment: Environment): Promise<string | null>
  /** What can be seen without asking the gateway. */
  examineMachine(examined: {
    dataDirectory: string | null
    file: string | null
    environment: Environment
    now: number
    processId: number | null
  }): Promise<Finding[]>
}
