import type { AdminContext } from './context.ts'

/** As many places of a name are listed. */
const mostPlaces = 4

/** Where else a name is: whoever looks for it here has mostly left its project out. null: it is nowhere, or in too many places. */
export async function nameScopes(
  { store }: Pick<AdminContext, 'store'>,
  places: readonly { projectId: string; environmentId: string | null }[],
  asked: { environment: { name: string } | null },
): Promise<string | null> {
  if (places.length === 0 || places.length > mostPlaces) return null
  const [projects, environments] = await Promise.all([store.projects.list(), store.environments.list(null)])
  const named = places.map(({ projectId, environmentId }) => ({
    project: projects.find(({ id }) => id === projectId)?.name ?? projectId,
    environment: environments.find(({ id }) => id === environmentId)?.name ?? null,
  }))
  const ways = named.map(({ project, environment }) => {
    if (environment === null) return `-p ${project} --all-environments`
    return environment === asked.environment?.name ? `-p ${project}` : `-p ${project} -e ${environment}`
  })
  return `There is one elsewhere: add ${ways.join(', or ')}`
}
