import type { ProgressBar } from '../backup/run-restore.ts'
import type { CommandIo, DaemonCommand } from './local-command.ts'

const options = [
  { flags: '--config <file>', description: 'Settings file (default: config.yaml in the data directory)' },
  { flags: '--recovery-key-stdin', description: 'Read the recovery key from standard input (asked for on a terminal)' },
  { flags: '--recovery-key-env <variable>', description: 'Read the recovery key from an environment variable' },
  {
    flags: '--without-credentials',
    description: 'Restore without the credentials and the recovery key, once confirmed',
  },
  { flags: '--force', description: 'Restore even if the directory holds a gateway; its data is kept beside it' },
]

export function makeRestoreCommand(openProgress: (io: CommandIo) => ProgressBar): DaemonCommand {
  return {
    name: 'restore',
    summary: 'Restore a gateway from a backup, on this machine or another',
    arguments: [{ name: 'file', description: 'Backup file written by spgw backup' }],
    options,
    examples: ['restore spgw.backup', 'restore spgw.backup --data-dir /var/lib/spgw --recovery-key-env RECOVERY_KEY'],
    async run(given, io, { dataDir, output, yes }) {
      const progress = openProgress(io)
      try {
        const { reportRestored, restore } = await import('../backup/run-restore.ts')
        const answer = await restore(given, io, { dataDir, yes }, progress)
        await progress.end()
        if (output === 'json') await io.stdout.write(`${JSON.stringify(answer, null, 2)}\n`)
        else await io.stderr.write(reportRestored(answer))
      } finally {
        await progress.end()
      }
      return 0
    },
  }
}
