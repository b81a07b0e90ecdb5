#!/usr/bin/env node
import { runCli } from '../cli/run-cli.ts'
import { terminalIo } from '../cli/terminal-io.ts'
import { createAdminClient } from './admin/client.ts'
import { listOperations } from './admin/contract/operations.ts'
import { openSocketTransport } from './admin/socket-transport.ts'
import { initCommand, serveCommand, versionCommand } from './daemon/commands.ts'
import { version } from './daemon/version.ts'

/** The composition root: joins the contract, the client and the local commands to the command line. */
process.exitCode = await runCli(process.argv.slice(2), {
  operations: listOperations(),
  connect: ({ socketPath, waitMs }) => {
    const transport = openSocketTransport(socketPath, { waitMs })
    return { client: createAdminClient({ transport, version, surface: 'cli' }), close: () => transport.close() }
  },
  local: [initCommand, serveCommand, versionCommand],
  io: terminalIo(process),
  version,
})
