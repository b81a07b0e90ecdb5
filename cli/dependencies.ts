import type { Io } from './io.ts'
import type { LocalCommand } from './local-command.ts'
import type { Operation } from './operation.ts'
import type { Connect, runOperation } from './run.ts'

/** What the composition root hands to the command line. */
export interface Dependencies {
  /** Called only when the command line is for none of the local commands: the gateway itself needs none of this. */
  operations(): Promise<readonly Operation[]>
  connect: Connect
  local: readonly LocalCommand[]
  io: Io
  version: string
  /** Replaced in tests of the flags alone; otherwise the real thing. */
  run?: typeof runOperation
}
