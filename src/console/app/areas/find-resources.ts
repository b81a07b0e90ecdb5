import { inScope, type Scope } from '../session/scope.ts'

interface Resource {
  id: string
  project: string
  environment: string | null
}

/**
 * What an address means: the resource with this id, else those with this name. A name occurs once in each environment,
 * so the scope of the address decides first.
 */
export function findResources<Row extends Resource>(
  rows: readonly Row[],
  reference: string,
  nameOf: (row: Row) => string,
  scope: Scope,
): readonly Row[] {
  const byId = rows.find(({ id }) => id === reference)
  if (byId !== undefined) return [byId]
  const named = rows.filter((row) => nameOf(row) === reference)
  const inside = named.filter((row) => inScope(scope, row))
  return inside.length > 0 ? inside : named
}
