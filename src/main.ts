#!/usr/bin/env node
import { setEnvironmentData } from 'node:worker_threads'
import { hostContext } from '../cli/host-context.ts'
import { runCli } from '../cli/program.ts'
import { terminalIo } from '../cli/terminal-io.ts'
import { armFaultPoint } from './core/fault-point.ts'
import { version } from './daemon/version.ts'
import { localCommands } from './local-commands.ts'

/** The composition root: joins the contract, the client and the local commands to the command line. */
const environment = process.env
// Node would open its debugger, to which any user of the machine could connect; other programs reopen their logs on this signal.
process.on('SIGUSR1', () => {})
armFaultPoint(environment, setEnvironmentData, () => process.kill(process.pid, 'SIGKILL'))
const status = runCli(process.argv.slice(2), {
  operations: async () => (await import('../cli/operation-bundle.ts')).catalog,
  connect: async (options) => {
    const { connectGateway } = await import('../cli/operation-bundle.ts')
    return connectGateway(hostContext(environment), version)(options)
  },
  local: localCommands,
  io: terminalIo(process, environment),
  version,
})
// Not awaited at the top: the bundle is no ES module (scripts/bundle.ts).
void status.then((code) => {
  process.exitCode = code
})
