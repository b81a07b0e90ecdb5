import type { LocalCommand } from '../local-command.ts'
import { clientNames } from './client-names.ts'

export const connectCommand: LocalCommand = {
  name: 'connect',
  summary: 'Connect a client to the gateway: print its settings, or write them with --write',
  arguments: [{ name: 'client', description: 'Client', choices: clientNames }],
  options: [
    { flags: '--write', description: 'Write the settings of the client and keep a backup of the old ones' },
    {
      flags: '--model <name>',
      description: 'Model for the client to use: one that the key can use (default: the client decides)',
    },
    {
      flags: '--profile <name>',
      description: 'Codex: write a profile of this name, used with codex --profile, and leave the usual settings',
    },
    { flags: '--key-env <variable>', description: 'Take the gateway key from an environment variable' },
    { flags: '--key-stdin', description: 'Read the gateway key from standard input' },
    { flags: '--create-key <name>', description: 'Create a gateway key with this name for the client' },
    { flags: '-p, --project <name>', description: 'Project of the key (default: $SPGW_PROJECT, else default)' },
    {
      flags: '-e, --environment <name>',
      description: 'Environment of the key (default: $SPGW_ENVIRONMENT, else production)',
    },
    {
      flags: '--url <url>',
      description: 'URL of the gateway as the client sees it (default: as the gateway reports it)',
    },
  ],
  examples: [
    'connect claude-code --create-key laptop --write',
    'connect codex --key-env SPGW_KEY --model gpt-5 --write',
    'connect claude-code --create-key laptop --model gpt-5 --write',
    'connect codex --create-key laptop --model claude-sonnet-4-5 --profile claude --write',
    'connect gemini-cli --create-key laptop --model claude-sonnet-4-5 --write',
    'connect opencode --create-key laptop --write',
    'connect openai-env --key-env SPGW_KEY',
  ],
  reachesGateway: true,
  run: async (...given) => (await import('./connect.ts')).connectClient(...given),
}
