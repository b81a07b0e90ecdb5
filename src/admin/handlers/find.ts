import { hasSecretForm, keyPrefix } from '../../core/secrets/gateway-key.ts'
import type { Environment, Key, Policy, Project, Provider, Route } from '../../store/api.ts'
import type { AdminContext } from './context.ts'
import { notFound } from './fault.ts'
import type { nameScopes } from './name-scopes.ts'

/** Look-ups by name or id that end the operation with `not_found`, saying where the right names are. */

type Store = Pick<AdminContext, 'store'>

export interface FoundScope {
  project: Project
  environment: Environment
}

export async function findProject({ store }: Store, name: string): Promise<Project> {
  return (await store.projects.find(name)) ?? fail(notFound('project', name, 'List them: spgw projects list'))
}

export async function findEnvironment({ store }: Store, project: Project, name: string): Promise<Environment> {
  const found = await store.environments.find(project.id, name)
  if (found !== null) return found
  const hint = `${listEnvironments(project)}. To add it: spgw environments add ${name} -p ${project.name}`
  throw notFound(`environment in project ${project.name} named`, name, hint)
}

export async function findScope(context: Store, scope: { project: string; environment: string }): Promise<FoundScope> {
  const project = await findProject(context, scope.project)
  return { project, environment: await findEnvironment(context, project, scope.environment) }
}

export interface ListScope {
  /** null: of several projects. */
  projectId: string | null
  /** null: all of them. */
  environmentIds: string[] | null
  /** Of what is for all environments of a project, `environmentId` is null. */
  includes(place: { projectId: string; environmentId: string | null }): boolean
}

interface NamedScope {
  project?: string | undefined
  environment?: string | undefined
  all?: boolean
}

/** What a list covers: with nothing named, all that the caller may see (contract.md rule 28). */
export async function findListScope(context: Store, { project, environment, all }: NamedScope): Promise<ListScope> {
  const named = all || project === undefined ? null : await findProject(context, project)
  const projectId = named?.id ?? null
  const ofProject = (place: { projectId: string }) => projectId === null || place.projectId === projectId
  if (all || environment === undefined) return { projectId, environmentIds: null, includes: ofProject }
  const environments = await context.store.environments.list(projectId)
  const same = environments.filter(({ id, name }) => id === environment || name === environment)
  if (same.length === 0) throw noEnvironment(environment, named)
  const includes: ListScope['includes'] = (place) =>
    place.environmentId === null
      ? same.some((one) => one.projectId === place.projectId)
      : same.some(({ id }) => id === place.environmentId)
  return { projectId, environmentIds: same.map(({ id }) => id), includes }
}

function noEnvironment(name: string, project: Project | null) {
  const hint = project === null ? 'List them: spgw environments list' : listEnvironments(project)
  return notFound(project === null ? 'environment' : `environment in project ${project.name} named`, name, hint)
}

export async function findProvider({ store }: Store, name: string): Promise<Provider> {
  return (await store.providers.find(name)) ?? fail(notFound('provider', name, 'List them: spgw providers list'))
}

export async function findPolicy({ store }: Store, name: string): Promise<Policy> {
  return (await store.policies.find(name)) ?? fail(notFound('policy', name, 'List them: spgw policies list'))
}

export async function findKey(context: Store, name: string, scope: FoundScope): Promise<Key> {
  if (hasSecretForm(name, keyPrefix)) return (await import('./keys/whole-key.ts')).findWholeKey(context, name)
  const found = await context.store.keys.find(name, scope.project.id, scope.environment.id)
  if (found !== null) return found
  const others = (await context.store.keys.list(null, null)).filter((key) => key.name === name)
  const hint = (await adviseScope(context, others, scope)) ?? 'List them: spgw keys list --all'
  throw notFound(`key in ${describeScope(scope)} named`, name, hint)
}

/** By what a call says of it: who has the whole key need not know where it is, and may see no project of the usual name. */
export async function findCalledKey(
  context: Store,
  { key, project, environment }: { key: string; project: string; environment: string },
): Promise<Key> {
  if (hasSecretForm(key, keyPrefix)) return (await import('./keys/whole-key.ts')).findWholeKey(context, key)
  return findKey(context, key, await findScope(context, { project, environment }))
}

async function adviseScope(...asked: Parameters<typeof nameScopes>): Promise<string | null> {
  return (await import('./name-scopes.ts')).nameScopes(...asked)
}

export interface RouteReference {
  model: string
  project: string
  environment: string
  allEnvironments: boolean
}

export interface RoutePlace {
  project: Project
  /** null: all environments of the project. */
  environment: Environment | null
}

/** Where a route stands. For all environments none of them has to be there. */
export async function findRouteScope(
  context: Store,
  scope: Pick<RouteReference, 'project' | 'environment' | 'allEnvironments'>,
): Promise<RoutePlace> {
  if (!scope.allEnvironments) return findScope(context, scope)
  return { project: await findProject(context, scope.project), environment: null }
}

export async function findRoute(context: Store, reference: RouteReference): Promise<Route> {
  const { project, environment } = await findRouteScope(context, reference)
  const found = await context.store.routes.find(project.id, environment?.id ?? null, reference.model)
  if (found !== null) return found
  const where = environment === null ? `all environments of ${project.name}` : describeScope({ project, environment })
  throw notFound(`route in ${where} for`, reference.model, await adviseElsewhere(context, reference))
}

/** The scope names a route, and does not move one there. */
async function adviseElsewhere(context: Store, reference: RouteReference): Promise<string> {
  const { allEnvironments, project, environment, model } = reference
  const other = await findRouteScope(context, { ...reference, allEnvironments: !allEnvironments }).catch(() => null)
  const there =
    other === null ? null : await context.store.routes.find(other.project.id, other.environment?.id ?? null, model)
  if (there === null) {
    const others = (await context.store.routes.list(null)).filter((route) => route.model === model)
    const asked = { environment: allEnvironments ? null : { name: environment } }
    return (await adviseScope(context, others, asked)) ?? 'List them: spgw routes list --all'
  }
  return allEnvironments
    ? `${project}/${environment} has a route of its own: leave --all-environments out, or add one: spgw routes add`
    : 'The project has a route for all its environments: add --all-environments'
}

export function describeScope({ project, environment }: FoundScope): string {
  return `${project.name}/${environment.name}`
}

function listEnvironments(project: Project): string {
  return `List them: spgw environments list --project ${project.name}`
}

function fail(error: Error): never {
  throw error
}
