import type { CommandEntry, Term } from './commands.ts'

/** `docs/reference/cli.md`: every command with its arguments, flags and examples. */
export function writeCommandReference(commands: readonly CommandEntry[], globals: readonly Term[]): string {
  const areas = [...new Set(commands.map(({ path }) => (path.length === 1 ? '' : (path[0] ?? ''))))]
  return [
    '# Commands',
    '',
    'All commands on one page, as `spgw --help` shows them. Generated from the contract by `npm run reference`.',
    '',
    '## Exit status',
    '',
    '| status | meaning |',
    '|---|---|',
    ...exitStatuses.map(([status, meaning]) => `| ${status} | ${meaning} |`),
    '',
    '## Global flags',
    '',
    ...writeTerms('flag', globals),
    ...areas.flatMap((area) => writeArea(area, commands)),
  ].join('\n')
}

export const exitStatuses: readonly [status: number, meaning: string][] = [
  [0, 'success'],
  [1, 'failure, or a check that failed'],
  [2, 'usage error'],
  [3, 'gateway not running'],
  [4, 'not found'],
  [5, 'rejected: not allowed, or in conflict'],
  [130, 'interrupted with Ctrl-C at a prompt'],
]

function writeArea(area: string, commands: readonly CommandEntry[]): string[] {
  const own = commands.filter(({ path }) => (area === '' ? path.length === 1 : path.length > 1 && path[0] === area))
  return [area === '' ? '## Commands without a group' : `## ${area}`, '', ...own.flatMap(writeCommand)]
}

function writeCommand(command: CommandEntry): string[] {
  const { path, summary, usage, aliases, arguments: given, flags, examples, role, isDangerous } = command
  const line = ['spgw', ...path].join(' ')
  const notes = [
    role === null ? 'Runs locally.' : `Role: ${role}.`,
    ...(isDangerous ? ['Asks for confirmation; `--yes` skips it.'] : []),
    ...(aliases.length === 0 ? [] : [`Also: ${aliases.map((alias) => `\`${alias}\``).join(', ')}.`]),
  ]
  return [
    `### ${line}`,
    '',
    `${summary}. ${notes.join(' ')}`,
    '',
    '```sh',
    `${line} ${usage}`,
    ...examples.map((example) => `spgw ${example}`),
    '```',
    '',
    ...writeTerms('argument', given),
    ...writeTerms('flag', flags),
  ]
}

function writeTerms(what: string, terms: readonly Term[]): string[] {
  if (terms.length === 0) return []
  return [
    `| ${what} | |`,
    '|---|---|',
    ...terms.map(({ term, meaning }) => `| \`${term}\` | ${meaning.replaceAll('|', '\\|').replaceAll('<', '&lt;')} |`),
    '',
  ]
}
