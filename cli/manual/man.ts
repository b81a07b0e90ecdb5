import type { CommandEntry, Term } from './commands.ts'
import { exitStatuses } from './markdown.ts'

export interface ManPage {
  /** `spgw-keys.1` */
  file: string
  text: string
}

/** Manual pages in man(7): one of all commands, and one of each area. */
export function writeManPages(commands: readonly CommandEntry[], globals: readonly Term[], version: string): ManPage[] {
  const areas = [...new Set(commands.filter(({ path }) => path.length > 1).map(({ path }) => path[0] ?? ''))]
  const single = commands.filter(({ path }) => path.length === 1)
  return [
    { file: 'spgw.1', text: writeMain(single, areas, globals, version) },
    ...areas.map((area) => {
      const own = commands.filter(({ path }) => path.length > 1 && path[0] === area)
      return { file: `spgw-${area}.1`, text: writeArea(area, own, version) }
    }),
  ]
}

function writeMain(
  single: readonly CommandEntry[],
  areas: readonly string[],
  globals: readonly Term[],
  version: string,
): string {
  return [
    ...head('spgw', 'a self-hosted gateway to model providers', version),
    '.SH SYNOPSIS',
    '.B spgw',
    '.I command',
    '.RI [ flags ]',
    '.SH COMMANDS',
    ...single.flatMap(writeCommand),
    '.SH COMMAND GROUPS',
    ...areas.flatMap((area) => ['.TP', `.B ${troffText(area)}`, `See \\fBspgw\\-${troffText(area)}\\fP(1).`]),
    '.SH GLOBAL FLAGS',
    ...globals.flatMap(writeTerm),
    '.SH EXIT STATUS',
    ...exitStatuses.flatMap(([status, meaning]) => ['.TP', `.B ${status}`, protect(meaning)]),
    '.SH SEE ALSO',
    protectRaw(areas.map((area) => `\\fBspgw\\-${troffText(area)}\\fP(1)`).join(', ')),
    '',
  ].join('\n')
}

function writeArea(area: string, commands: readonly CommandEntry[], version: string): string {
  const verbs = commands.map(({ path }) => path.slice(1).join(' '))
  return [
    ...head(`spgw-${area}`, verbs.join(', '), version),
    '.SH SYNOPSIS',
    `.B spgw ${troffText(area)}`,
    '.I verb',
    '.RI [ flags ]',
    '.SH COMMANDS',
    ...commands.flatMap(writeCommand),
    '.SH SEE ALSO',
    '\\fBspgw\\fP(1) lists the global flags.',
    '',
  ].join('\n')
}

/** Without a date: the same program always writes the same page. */
function head(name: string, about: string, version: string): string[] {
  return [
    `.TH "${troffText(name.toUpperCase())}" "1" "" "spgw ${troffText(version)}" "spgw"`,
    '.SH NAME',
    `${troffText(name)} \\- ${troffText(about)}`,
  ]
}

function writeCommand({
  path,
  usage,
  summary,
  arguments: given,
  flags,
  examples,
  isDangerous,
}: CommandEntry): string[] {
  return [
    `.SS spgw ${troffText(path.join(' '))} ${troffText(usage)}`,
    protect(`${summary}.${isDangerous ? ' Asks for confirmation; --yes skips it.' : ''}`),
    ...given.flatMap(writeTerm),
    ...flags.flatMap(writeTerm),
    ...(examples.length === 0
      ? []
      : ['.PP', 'Examples:', '.PP', '.nf', '.RS 4', ...examples.map((line) => protect(`spgw ${line}`)), '.RE', '.fi']),
  ]
}

function writeTerm({ term, meaning }: Term): string[] {
  return ['.TP', `.B ${troffText(term)}`, protect(meaning === '' ? term : meaning)]
}

/** Text that stands where nothing of it is read as a request. */
function troffText(text: string): string {
  return text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('"', '\\(dq').replaceAll("'", '\\(aq')
}

/** A line that begins with a dot or a quote would be a request. */
function protect(text: string): string {
  return protectRaw(troffText(text))
}

function protectRaw(text: string): string {
  return /^[.']/.test(text) ? `\\&${text}` : text
}
