import { connectCommand } from '../cli/clients/command.ts'
import { completionCommand } from '../cli/completion/command.ts'
import { makeDoctorCommand } from '../cli/doctor/command.ts'
import { makeHealthCommand } from '../cli/health-command.ts'
import { hostContext } from '../cli/host-context.ts'
import type { LocalCommand } from '../cli/local-command.ts'
import { makeManCommand } from '../cli/manual/command.ts'
import { openProgress } from '../cli/progress.ts'
import { makeTuiCommand } from '../cli/tui-command.ts'
import { initCommand, serveCommand, versionCommand } from './daemon/commands/commands.ts'
import { importCommand } from './daemon/commands/import-command.ts'
import { licensesCommand } from './daemon/commands/licenses-command.ts'
import { makeRestoreCommand } from './daemon/commands/restore-command.ts'
import { version } from './daemon/version.ts'

const operations = async () => (await import('../cli/operation-bundle.ts')).catalog

const tuiCommand = makeTuiCommand({
  operations,
  version,
  start: async (parts) => (await import('../tui/start.tsx')).runTui({ ...parts, process }),
})

const doctorCommand = makeDoctorCommand({
  version,
  async locate(dataDir, environment) {
    const { files, findSocket } = await import('../cli/operation-bundle.ts')
    return findSocket(dataDir, hostContext(environment), files)?.dataDirectory ?? null
  },
  checkMachine: async (checked) => (await import('./daemon/doctor/machine.ts')).checkMachine(checked),
})

const healthCommand = makeHealthCommand({
  async locate(dataDir, environment) {
    const { files, findSocket } = await import('../cli/operation-bundle.ts')
    return findSocket(dataDir, hostContext(environment), files)?.socketPath ?? null
  },
})

/** The commands that are no operations: they work on this machine, most of them without a running gateway. */
export const localCommands: readonly LocalCommand[] = [
  initCommand,
  serveCommand,
  makeRestoreCommand(openProgress),
  importCommand,
  tuiCommand,
  doctorCommand,
  healthCommand,
  connectCommand,
  completionCommand,
  makeManCommand({ operations, local: () => localCommands, version }),
  licensesCommand,
  versionCommand,
]
