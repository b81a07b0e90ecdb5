import type { LocalCommand } from '../local-command.ts'
import { clientNames } from './client-names.ts'

export const connectCommand: LocalCommand = {
  name: 'connect',
  summary: 'Point a client at the gateway: print its settings, or write them with --write',
  arguments: [{ name: 'client', description: 'Which client', choices: clientNames }],
  options: [
    { flags: '--write', description: 'Change the settings of the client; what stood there is kept beside them' },
    { flags: '--model <name>', description: 'Model that the client is to ask for (default: its own choice)' },
    { flags: '--key-env <variable>', description: 'Take the gateway key from an environment variable' },
    { flags: '--key-stdin', description: 'Read the gateway key from standard input' },
    { flags: '--create-key <name>', description: 'Create a gateway key of this name for it' },
    {
      flags: '--url <url>',
      description: 'Address of the gateway as the client sees it (default: asked of the gateway)',
    },
  ],
  examples: [
    'connect claude-code --create-key laptop --write',
    'connect codex --key-env SPGW_KEY --model gpt-5 --write',
    'connect openai-env --key-env SPGW_KEY',
  ],
  reachesGateway: true,
  run: async (...given) => (await import('./connect.ts')).connectClient(...given),
}
