import { newId } from '../../../core/ids.ts'
import { type LaneName, laneNames } from '../../../core/lane.ts'
import type { Environment, Provider } from '../../../store/api.ts'
import { audited } from '../audited.ts'
import { operations } from '../base.ts'
import { confirmReach } from '../confirm-reach.ts'
import type { AdminContext } from '../context.ts'
import { conflict, invalid } from '../fault.ts'
import { findEnvironment, findListScope, findProject, findProvider } from '../find.ts'
import { loadNames, type NamesById } from '../names.ts'

const show = (environment: Environment, names: NamesById) => ({
  id: environment.id,
  name: environment.name,
  project: names.project(environment.projectId),
  default_providers: {
    openai: nameOf(environment.defaultProviders.openai, names),
    anthropic: nameOf(environment.defaultProviders.anthropic, names),
    gemini: nameOf(environment.defaultProviders.gemini, names),
  },
  owned: names.owned(environment.id),
  created_at: environment.createdAt,
})
const nameOf = (id: string | undefined, names: NamesById) => (id === undefined ? null : names.provider(id))
const resource = ({ id, name }: Environment) => ({ kind: 'environment', id, name })

async function load(context: AdminContext, input: { project: string; name: string }) {
  const project = await findProject(context, input.project)
  const environment = await findEnvironment(context, project, input.name)
  const names = await loadNames(context)
  return { environment, names, before: show(environment, names) }
}

type DefaultProviders = Environment['defaultProviders']

async function readDefaults(
  context: AdminContext,
  before: DefaultProviders,
  change: Partial<Record<LaneName, string>> = {},
): Promise<DefaultProviders> {
  const after = { ...before }
  for (const lane of laneNames) {
    const name = change[lane]
    if (name === '') delete after[lane]
    else if (name !== undefined) after[lane] = await findDefault(context, lane, name)
  }
  return after
}

/** The id of a provider that calls without a model can be sent to: they are never translated. */
async function findDefault(context: AdminContext, lane: LaneName, name: string): Promise<string> {
  const provider = await findProvider(context, name)
  const lanes = new Map(context.kinds.map((kind) => [kind.kind, kind.lanes]))
  const serves = ({ kind }: Provider) => lanes.get(kind)?.includes(lane) === true
  if (serves(provider)) return provider.id
  const able = (await context.store.providers.list()).filter(serves).map((each) => each.name)
  throw invalid(
    `The provider ${provider.name} cannot be the default of ${lane}: its kind, ${provider.kind}, does not serve it.`,
    able.length === 0
      ? `No provider serves ${lane}. Add one: spgw providers add NAME --kind ${lane}`
      : `Providers that do: ${able.join(', ')}.`,
  )
}

export const environments = {
  add: operations.environments.add.handler(async ({ context, input }) => {
    const project = await findProject(context, input.project)
    if ((await context.store.environments.find(project.id, input.name)) !== null)
      throw conflict(`The project ${project.name} has an environment ${input.name} already.`, 'Choose another name.')
    const environment: Environment = {
      id: newId('env'),
      projectId: project.id,
      name: input.name,
      defaultProviders: {},
      createdAt: new Date().toISOString(),
    }
    const after = show(environment, await loadNames(context))
    const change = { operation: 'environments.add', resource: resource(environment), before: null, after }
    await audited(context, change).environments.insert(environment)
    await context.runtime.publish()
    return after
  }),
  list: operations.environments.list.handler(async ({ context, input }) => {
    const { projectId } = await findListScope(context, input)
    const names = await loadNames(context)
    return (await context.store.environments.list(projectId)).map((environment) => show(environment, names))
  }),
  show: operations.environments.show.handler(async ({ context, input }) => (await load(context, input)).before),
  edit: operations.environments.edit.handler(async ({ context, input }) => {
    const { environment, names, before } = await load(context, input)
    const change = {
      name: input.rename ?? environment.name,
      defaultProviders: await readDefaults(context, environment.defaultProviders, input.defaultProviders),
    }
    const after = show({ ...environment, ...change }, names)
    const line = { operation: 'environments.edit', resource: resource(environment), before, after }
    await audited(context, line).environments.update(environment.id, change)
    await context.runtime.publish()
    return after
  }),
  remove: operations.environments.remove.handler(async ({ context, input }) => {
    const { environment, before } = await load(context, input)
    const line = { operation: 'environments.remove', resource: resource(environment), before, after: null }
    await audited(context, line).environments.remove(environment.id)
    await context.runtime.publish()
    const nodes = await confirmReach(context)
    return { id: environment.id, name: environment.name, removed: true as const, nodes }
  }),
}
