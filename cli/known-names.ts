import { valueAt } from '../src/admin/contract/show-value.ts'
import type { Field, GatewayClient, Operation } from './operation.ts'

/**
 * The operation that lists what a field names one of; null: there is none. `--provider` is one of `providers list`, `--kind` of
 * `providers kinds`, a verb's own argument one of its noun, unless the verb makes something new.
 */
export function listNaming(field: Field, operation: Operation, operations: readonly Operation[]): Operation | null {
  const find = (...path: string[]) => operations.find(({ name }) => name === path.join('.')) ?? null
  const area = operation.path[0] ?? ''
  const isOwn = operation.meta.positional?.[0] === field.name
  const makesNew = ['add', 'create'].includes(operation.path.at(-1) ?? '') && operation.path.length === 2
  if (isOwn && makesNew) return null
  const stem = field.syntax === 'target' ? 'provider' : field.flag.replace(/^(new|own)-/, '')
  const plural = stem.endsWith('y') && stem !== 'key' ? `${stem.slice(0, -1)}ies` : `${stem}s`
  const own = isOwn && operation.path.length > 1 ? find(area, 'list') : null
  return own ?? find(plural, 'list') ?? find(area, plural)
}

/** What people call a row: a route by its model, what has no name, as a request, by its id. */
export function nameOfListed(row: unknown, list: Operation): string | null {
  const noun = list.path.at(-1) === 'list' ? (list.path[0] ?? '') : (list.path.at(-1) ?? '')
  const value = valueAt(row, 'name') ?? valueAt(row, ownNames[noun] ?? 'id')
  return typeof value === 'string' && value !== '' ? value : null
}

const ownNames: Record<string, string> = { routes: 'model', kinds: 'kind' }

/** The names that a field may have, within the scope of what was given; none where nothing lists them. */
export async function askNames(
  field: Field,
  operation: Operation,
  given: Readonly<Record<string, unknown>>,
  operations: readonly Operation[],
  open: () => Promise<GatewayClient>,
): Promise<string[]> {
  const list = listNaming(field, operation, operations)
  if (list === null) return []
  const scope = ['project', 'environment'].flatMap((name) =>
    given[name] !== undefined && list.fields.some((one) => one.name === name) ? [[name, given[name]]] : [],
  )
  try {
    const rows = await (await open()).call(list.path, Object.fromEntries(scope))
    return Array.isArray(rows) ? [...new Set(rows.flatMap((row) => nameOfListed(row, list) ?? []))] : []
  } catch (error) {
    // Without a gateway there is nothing to be asked; without a list the question is as good.
    if (error instanceof Error && error.name === 'GatewayNotRunning') throw error
    return []
  }
}
