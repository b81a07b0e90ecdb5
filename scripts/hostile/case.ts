import type { Stage } from './stage.ts'

export interface HostileCase {
  /** Which parser it is for. */
  area: string
  name: string
  /** Part of the sample that runs with the tests. */
  sample?: boolean
  /** Resolves to what came of it. */
  run(stage: Stage): Promise<string>
}
