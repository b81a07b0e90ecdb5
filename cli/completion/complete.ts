import { valueAt } from '../../src/admin/contract/show-value.ts'
import type { Dependencies } from '../dependencies.ts'
import { readGlobalOptions } from '../global-options.ts'
import { nameOfListed } from '../known-names.ts'
import type { Operation } from '../operation.ts'
import { reach } from '../run.ts'
import { type Completion, type LiveNames, suggest } from './candidates.ts'

/** A person waits for this with a finger on a key. A gateway that is well answers in some milliseconds, on a busy machine in some hundred. */
const timeoutMs = 1000

/** Prints what can stand at the end of a command line, `value<TAB>description` a line. Never an error: a shell has no place for one. */
export async function complete(words: readonly string[], dependencies: Dependencies): Promise<void> {
  const { io, local } = dependencies
  const operations = await dependencies.operations()
  const { fixed, live } = suggest(words, operations, local)
  const candidates = live === null ? fixed : await askNames(live, words, dependencies)
  const typed = words.at(-1) ?? ''
  const lines = candidates
    .filter(({ value }) => value.startsWith(typed))
    // A command's own flag may have the name of a global one: it comes first, and is meant.
    .filter(({ value }, place, all) => all.findIndex((one) => one.value === value) === place)
    .map(({ value, description }) => (description === '' ? value : `${value}\t${description}`))
  if (lines.length > 0) await io.stdout.write(`${lines.join('\n')}\n`)
}

/** The names that the running gateway has; none when there is no gateway, or none that answers at once. */
async function askNames(
  { list, scope }: LiveNames,
  words: readonly string[],
  { connect, io }: Dependencies,
): Promise<Completion[]> {
  const meant = { project: io.environment.SPGW_PROJECT, environment: io.environment.SPGW_ENVIRONMENT, ...scope }
  const known = Object.entries(meant).filter(([name, value]) => value && list.fields.some((one) => one.name === name))
  try {
    const settings = { ...readGlobalOptions(namedPlaces(words)), wait: false }
    const gateway = await reach(connect, settings, { ...io, stderr: { ...io.stderr, write: async () => {} } })
    const rows = await gateway.call(list.path, Object.fromEntries(known), { signal: AbortSignal.timeout(timeoutMs) })
    return Array.isArray(rows) ? rows.flatMap((row) => describe(row, list)) : []
  } catch {
    return []
  }
}

/** Where the command line says that the gateway is. */
function namedPlaces(words: readonly string[]): Record<string, unknown> {
  const valueAfter = (flag: string) => {
    const place = words.indexOf(flag)
    return place < 0 ? undefined : words[place + 1]
  }
  return { dataDir: valueAfter('--data-dir'), remote: valueAfter('--remote'), tokenEnv: valueAfter('--token-env') }
}

function describe(row: unknown, list: Operation): Completion[] {
  const value = nameOfListed(row, list)
  // A word with a blank or a control character in it could not be typed as it stands.
  if (value === null || !/^[\w.:/*@-]+$/.test(value)) return []
  const state = valueAt(row, 'state') ?? valueAt(row, 'title') ?? valueAt(row, 'kind')
  return [{ value, description: typeof state === 'string' ? state : '' }]
}
