import type { DaemonCommand } from './local-command.ts'

/** From a file to a file: nothing is asked of a gateway, and nothing of it is changed. */
export const importCommand: DaemonCommand = {
  name: 'import',
  summary: 'Convert a LiteLLM or Portkey configuration into a file for spgw apply',
  arguments: [
    { name: 'format', description: 'Program that the file is of', choices: ['litellm', 'portkey'] },
    { name: 'file', description: 'Configuration to convert: YAML or JSON file, - for standard input' },
  ],
  options: [
    { flags: '--strict', description: 'Fail when something cannot be converted' },
    {
      flags: '-p, --project <name>',
      description: 'Project of the routes and of the budget (default: $SPGW_PROJECT, else default, and the workspace)',
    },
    {
      flags: '-e, --environment <name>',
      description: 'Environment of the routes and of the budget (default: $SPGW_ENVIRONMENT, else production)',
    },
    { flags: '--model <name>', description: 'Portkey: model name for clients (default: *, any)' },
  ],
  examples: [
    'import litellm config.yaml > gateway.yaml',
    'import portkey config.json --model gpt-4o > gateway.yaml',
    'import litellm team.yaml --project search > search.yaml',
  ],
  async run(options, io, { output }) {
    const { runImport } = await import('./run-import.ts')
    return await runImport(options, io, output)
  },
}
