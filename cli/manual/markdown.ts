import type { CommandEntry, Term } from './commands.ts'

/** `docs/reference/cli.md`: every command with its arguments, flags and examples. */
export function writeCommandReference(commands: readonly CommandEntry[], globals: readonly Term[]): string {
  const areas = [...new Set(commands.map(({ path }) => (path.length === 1 ? '' : (path[0] ?? ''))))]
  return [
    '# Commands',
    '',
    'Everything that `spgw --help` tells, on one page. This page is made from the contract by `npm run reference`.',
    '',
    '## Exit status',
    '',
    '| status | meaning |',
    '|---|---|',
    ...exitStatuses.map(([status, meaning]) => `| ${status} | ${meaning} |`),
    '',
    '## Flags of every command',
    '',
    ...writeTerms('flag', globals),
    ...areas.flatMap((area) => writeArea(area, commands)),
  ].join('\n')
}

export const exitStatuses: readonly [status: number, meaning: string][] = [
  [0, 'done'],
  [1, 'failed, or a check that says no'],
  [2, 'wrong usage'],
  [3, 'no gateway answers'],
  [4, 'not found'],
  [5, 'refused'],
  [130, 'interrupted with Ctrl-C at a question'],
]

function writeArea(area: string, commands: readonly CommandEntry[]): string[] {
  const own = commands.filter(({ path }) => (area === '' ? path.length === 1 : path.length > 1 && path[0] === area))
  return [area === '' ? '## Commands of one word' : `## ${area}`, '', ...own.flatMap(writeCommand)]
}

function writeCommand(command: CommandEntry): string[] {
  const { path, summary, usage, aliases, arguments: given, flags, examples, role, isDangerous } = command
  const line = ['spgw', ...path].join(' ')
  const notes = [
    role === null ? 'On the machine itself.' : `Role: ${role}.`,
    ...(isDangerous ? ['Asks first; `--yes` answers.'] : []),
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
