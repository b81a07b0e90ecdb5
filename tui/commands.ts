import type { Field, Operation } from '../cli/operation.ts'
import { valueAt } from '../src/admin/contract/show-value.ts'
import { closestName } from '../src/core/text/closest-names.ts'
import { aboutList, inputForRow, isAboutRow, nameOfRow } from './areas.ts'
import type { Host } from './host.ts'
import { describeScope, everything, isInScope, parseScope, scopeInput, type ViewScope } from './scope.ts'

/** One thing that can be written after the colon. */
export interface NamedCommand {
  /** `keys rotate` */
  words: string
  /** What may follow, as help shows it: `KEY`. */
  takes: string
  detail: string
  /** What may follow, as far as it is known. */
  names(): readonly string[]
  run(rest: readonly string[]): void
}

/** Places that commands lead to beyond what every screen can. */
export interface Places {
  /** Shows a noun of the contract, or a tab by its title. */
  goTo(name: string): void
  titles: readonly string[]
  setScope(scope: ViewScope): void
  help(): void
  quit(): void
}

/** Everything by name: places first, then every operation as the command line calls it. */
export function makeCommands(host: Host, places: Places): NamedCommand[] {
  const place = (words: string, detail: string, run: () => void) => ({ words, takes: '', detail, names: none, run })
  const nouns = host.areas.map(({ name }) => name)
  const titles = places.titles.map((title) => title.toLowerCase()).filter((title) => !nouns.includes(title))
  return [
    ...[...titles, ...nouns].map((name) => place(name, 'Show', () => places.goTo(name))),
    place('spend', 'What was spent, by whom and on what', () => places.goTo('spend')),
    scopeCommand(host, places),
    place('help', 'Show all keys', places.help),
    place('quit', 'Leave spgw tui', places.quit),
    ...host.areas.flatMap(({ operations }) => operations.map((operation) => operationCommand(host, operation))),
  ]
}

const none = () => []

function scopeCommand(host: Host, { setScope }: Places): NamedCommand {
  return {
    words: 'scope',
    takes: 'all | PROJECT[/ENVIRONMENT]',
    detail: `Choose what all screens cover; now ${describeScope(host.scope)}`,
    names: () => ['all', ...host.namesFor(fieldNamed('project'))],
    run: ([text = 'all', ...more]) => {
      const scope = more.length > 0 ? null : text === 'all' ? everything : parseScope(text)
      if (scope === null) host.notify('bad', 'Write :scope all, :scope PROJECT or :scope PROJECT/ENVIRONMENT.')
      else setScope(scope)
    },
  }
}

function operationCommand(host: Host, operation: Operation): NamedCommand {
  const { path, meta, fields } = operation
  const positional = meta.positional ?? []
  const flagOf = (name: string) => (fields.find((field) => field.name === name)?.flag ?? name).toUpperCase()
  return {
    words: path.join(' '),
    takes: positional.map(flagOf).join(' '),
    detail: meta.summary,
    names: () => {
      const [first] = positional
      if (first === undefined) return []
      const known = host.namesFor(fieldNamed(first))
      return known.length > 0 ? known : host.namesFor(fieldNamed(path[0] ?? first))
    },
    run: (rest) => void runNamed(host, operation, positional, rest),
  }
}

/** A thing that is named is looked for in its noun's list, so that it is shown as its row is. */
async function runNamed(
  host: Host,
  operation: Operation,
  positional: readonly string[],
  rest: readonly string[],
): Promise<void> {
  if (rest.length > positional.length) {
    const most = positional.length === 0 ? 'nothing' : `at most ${positional.join(' and ')}`
    return host.notify('bad', `${operation.path.join(' ')} takes ${most}.`)
  }
  const given: Record<string, unknown> = Object.fromEntries(
    rest.map((text, index) => {
      const name = positional[index] ?? ''
      const shape = operation.fields.find((field) => field.name === name)?.shape
      return [name, shape === 'number' ? Number(text) : text]
    }),
  )
  const list = host.areas.find(({ operations }) => operations.includes(operation))?.list ?? null
  const [first] = rest
  const isRow = list !== null && first !== undefined && isAboutRow(operation, list) && list.name !== 'requests.list'
  const rows = isRow ? await findRows(host, list, first) : []
  const [row, ...others] = rows
  if (list === null || row === undefined) return host.open({ operation, given })
  if (others.length > 0) {
    const places = rows.map((one) =>
      describeScope({ project: textOf(one, 'project'), environment: textOf(one, 'environment') }),
    )
    return host.notify(
      'warning',
      `${rows.length} are called ${first}: in ${places.join(', ')}. Choose one: :scope ${places[0]}`,
    )
  }
  host.open({ operation, given: { ...given, ...inputForRow(operation, list, row, aboutList(list, {})) }, subject: row })
}

async function findRows(host: Host, list: Operation, wanted: string): Promise<unknown[]> {
  try {
    const rows = await host.link.call(list, scopeInput(list, host.scope))
    if (!Array.isArray(rows)) return []
    const seen = rows.filter((row) => isInScope(row, host.scope))
    return seen.filter((row) => [nameOfRow(row), valueAt(row, 'id'), valueAt(row, 'last_four')].includes(wanted))
  } catch {
    // What is wrong is said by the operation itself, which is asked next.
    return []
  }
}

function textOf(row: unknown, path: string): string | null {
  const value = valueAt(row, path)
  return typeof value === 'string' ? value : null
}

function fieldNamed(name: string): Pick<Field, 'name'> {
  return { name }
}

/** The command that the text begins with, and what stands behind it. */
export function parseCommand(
  text: string,
  commands: readonly NamedCommand[],
): { command: NamedCommand; rest: string[] } | null {
  const words = text.trim().split(/\s+/)
  const found = commands
    .filter((command) => command.words.split(' ').every((word, index) => word === words[index]))
    .toSorted((one, other) => other.words.length - one.words.length)[0]
  const rest = words.slice(found?.words.split(' ').length ?? 0)
  if (found !== undefined && (rest.length === 0 || found.takes !== '')) return { command: found, rest }
  const [likely, ...more] = suggestCommands(text, commands)
  // A place needs only as many letters as tell it; what changes something is written whole unless nothing else is meant.
  if (likely === undefined || (more.length > 0 && likely.words.includes(' '))) return null
  return { command: likely, rest: [] }
}

/** What the text may become, places before operations. */
export function suggestCommands(text: string, commands: readonly NamedCommand[]): NamedCommand[] {
  const wanted = text.trimStart().toLowerCase()
  return wanted === '' ? [] : commands.filter(({ words }) => words.startsWith(wanted))
}

/** What was probably meant; null: nothing is near. */
export function nearestCommand(text: string, commands: readonly NamedCommand[]): string | null {
  const words = text.trim().split(/\s+/)
  const known = commands.map((command) => command.words)
  return closestName(words.slice(0, 2).join(' '), known) ?? closestName(words[0] ?? '', known)
}
