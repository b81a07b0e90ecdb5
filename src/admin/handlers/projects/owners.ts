import type { AdminContext } from '../context.ts'

/** By id of a resource: which configuration file owns which of its fields. */
export type Owners = (id: string) => Record<string, string>

export async function loadOwners({ store }: Pick<AdminContext, 'store'>): Promise<Owners> {
  const byId = Map.groupBy(await store.ownership.list(), ({ resourceId }) => resourceId)
  return (id) => Object.fromEntries((byId.get(id) ?? []).map(({ field, owner }) => [field, owner]))
}
