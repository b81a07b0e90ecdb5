#!/usr/bin/env node
import { homedir } from 'node:os'
import { setEnvironmentData } from 'node:worker_threads'
import { runCli } from '../cli/program.ts'
import { openProgress } from '../cli/progress.ts'
import { terminalIo } from '../cli/terminal-io.ts'
import { armFaultPoint } from './core/fault-point.ts'
import { initCommand, serveCommand, versionCommand } from './daemon/commands.ts'
import { makeRestoreCommand } from './daemon/restore-command.ts'
import { version } from './daemon/version.ts'

/** The composition root: joins the contract, the client and the local commands to the command line. */
const environment = process.env
armFaultPoint(environment, setEnvironmentData, () => process.kill(process.pid, 'SIGKILL'))
const surroundings = { environment, home: homedir() || null, platform: process.platform }
const status = runCli(process.argv.slice(2), {
  operations: async () => (await import('./admin/contract/operations.ts')).listOperations(),
  connect: async (options) => {
    const { connectThroughSocket } = await import('../cli/connect.ts')
    return connectThroughSocket(surroundings, version)(options)
  },
  local: [initCommand, serveCommand, makeRestoreCommand(openProgress), versionCommand],
  io: terminalIo(process, environment),
  version,
})
// Not awaited at the top: the bundle is no ES module (scripts/bundle.ts).
void status.then((code) => {
  process.exitCode = code
})
