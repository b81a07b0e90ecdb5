import type { ObjectType, StoredObject } from '../../core/objects/stored-object.ts'
import type { Environment, Project, Provider } from '../../store/api.ts'
import { audited } from './audited.ts'
import { operations } from './base.ts'
import type { AdminContext } from './context.ts'
import { conflict, invalid, notFound } from './fault.ts'
import { findListScope, findProvider, findScope } from './find.ts'

interface ObjectOwners {
  projects: ReadonlyMap<string, Project>
  environments: ReadonlyMap<string, Environment>
  providers: ReadonlyMap<string, Provider>
}

async function loadNames({ store }: AdminContext): Promise<ObjectOwners> {
  const [projects, environments, providers] = await Promise.all([
    store.projects.list(),
    store.environments.list(null),
    store.providers.list(),
  ])
  return { projects: byId(projects), environments: byId(environments), providers: byId(providers) }
}

function byId<Row extends { id: string }>(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.id, row]))
}

/** A name that the caller may not know is its id. */
function show(object: StoredObject, { projects, environments, providers }: ObjectOwners) {
  return {
    type: object.type,
    id: object.id,
    project: projects.get(object.projectId)?.name ?? object.projectId,
    environment: environments.get(object.environmentId)?.name ?? object.environmentId,
    provider: providers.get(object.providerId)?.name ?? object.providerId,
    credential: object.credentialId,
    key_id: object.keyId,
    request_id: object.requestId,
    created_at: object.createdAt,
  }
}

/** Others may have one of the same id, at another provider. */
const about = ({ id, type, projectId }: StoredObject) => ({
  resource: { kind: 'object', id, name: `${type} ${id}` },
  projectId,
})

interface ObjectReference {
  name: string
  type?: ObjectType | undefined
  provider?: string | undefined
}

/** The one object that is meant. */
async function load(context: AdminContext, { name, type, provider }: ObjectReference) {
  await context.runtime.ingest()
  const names = await loadNames(context)
  const filter = await narrow(context, { type, provider })
  const found = await context.store.objects.list({ ...filter, id: name, limit: 10 })
  const [object, ...others] = found
  if (object === undefined) throw notFound('object', name, 'List them: spgw objects list --all')
  if (others.length > 0) {
    const places = found.map((one) => show(one, names)).map((one) => `${one.type} at ${one.provider}`)
    throw conflict(`${name} is more than one object: ${places.join(', ')}.`, 'Choose one with --type or --provider.')
  }
  return { object, names, before: show(object, names) }
}

async function narrow(context: AdminContext, { type, provider }: Pick<ObjectReference, 'type' | 'provider'>) {
  return {
    ...(type === undefined ? {} : { type }),
    ...(provider === undefined ? {} : { providerId: (await findProvider(context, provider)).id }),
  }
}

/** Null where the provider takes none. */
function chooseCredential(provider: Provider, wanted: string | undefined): string | null {
  const { credentials } = provider.revision
  if (wanted === undefined) {
    if (credentials.length > 1)
      throw invalid(
        `Provider ${provider.name} has ${credentials.length} credentials.`,
        `Choose the one that the object was created with: --credential ${credentials.map(({ id }) => id).join(' or ')}`,
      )
    return credentials[0]?.id ?? null
  }
  const found = credentials.filter(({ id, lastFour }) => id === wanted || lastFour === wanted)
  const [only, ...others] = found
  if (only === undefined || others.length > 0)
    throw invalid(
      `Provider ${provider.name} has ${found.length === 0 ? 'no' : 'more than one'} credential ${JSON.stringify(wanted)}.`,
      `List them: spgw providers credentials list ${provider.name}`,
    )
  return only.id
}

async function refuseKnown({ store }: AdminContext, object: StoredObject, names: ObjectOwners): Promise<void> {
  const { type, id, providerId, credentialId } = object
  const known = await store.objects.list({ type, id, providerId, limit: 1000 })
  const [other] = known.filter((each) => each.credentialId === credentialId)
  if (other === undefined) return
  const { project, environment } = show(other, names)
  throw conflict(`${id} belongs to ${project}/${environment} already.`, `Forget it first: spgw objects forget ${id}`)
}

export const objects = {
  list: operations.objects.list.handler(async ({ context, input }) => {
    await context.runtime.ingest()
    const { limit, type, provider } = input
    const filter = await narrow(context, { type, provider })
    const { projectId, environmentIds } = await findListScope(context, input)
    const where = {
      ...(projectId === null ? {} : { projects: [projectId] }),
      ...(environmentIds === null ? {} : { environmentIds }),
    }
    const names = await loadNames(context)
    return (await context.store.objects.list({ ...filter, ...where, limit })).map((object) => show(object, names))
  }),
  show: operations.objects.show.handler(async ({ context, input }) => (await load(context, input)).before),
  adopt: operations.objects.adopt.handler(async ({ context, input }) => {
    await context.runtime.ingest()
    const { project, environment } = await findScope(context, input)
    const provider = await findProvider(context, input.provider)
    const object: StoredObject = {
      type: input.type,
      id: input.name,
      projectId: project.id,
      environmentId: environment.id,
      providerId: provider.id,
      credentialId: chooseCredential(provider, input.credential),
      keyId: null,
      requestId: null,
      createdAt: new Date().toISOString(),
      batchId: null,
    }
    const names = await loadNames(context)
    await refuseKnown(context, object, names)
    const after = show(object, names)
    const line = { operation: 'objects.adopt', ...about(object), before: null, after }
    await audited(context, line).objects.insert(object)
    return after
  }),
  forget: operations.objects.forget.handler(async ({ context, input }) => {
    const { object, before } = await load(context, input)
    const line = { operation: 'objects.forget', ...about(object), before, after: null }
    await audited(context, line).objects.remove(object)
    return { id: object.id, name: object.id, removed: true as const }
  }),
}
