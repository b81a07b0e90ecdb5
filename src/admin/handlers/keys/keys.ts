import { reachFaultPoint } from '../../../core/fault-point.ts'
import { newId } from '../../../core/ids.ts'
import type { Key } from '../../../store/api.ts'
import { audited } from '../audited.ts'
import { operations } from '../base.ts'
import { cancelledBy } from '../cancellation.ts'
import { confirmReach } from '../confirm-reach.ts'
import type { AdminContext } from '../context.ts'
import { conflict, refused } from '../fault.ts'
import { findCalledKey, findListScope, findPolicy, findScope } from '../find.ts'
import { mergePairs, readDuration, readEnd } from '../moments.ts'
import { withReserve } from '../with-reserve.ts'
import { listKeyModels } from './key-models.ts'
import { showKeyUsage } from './key-usage.ts'
import { mintSecret } from './mint-secret.ts'
import { loadKeyNames, resource, showKey } from './show-key.ts'

type KeyHome = { project: { id: string; name: string }; environment: { id: string; name: string } }
type KeyReference = { key: string; project: string; environment: string }

async function load(context: AdminContext, reference: KeyReference) {
  const key = await findCalledKey(context, reference)
  const names = await loadKeyNames(context)
  return { key, names, before: showKey(key, names) }
}

/** Its own: one that is named by its ID may be in another than the call says. */
function scopeOf({ key, names }: Pick<Awaited<ReturnType<typeof load>>, 'key' | 'names'>): KeyHome {
  const { projectId, environmentId } = key
  return {
    project: { id: projectId, name: names.project(projectId) },
    environment: { id: environmentId, name: names.environment(environmentId) },
  }
}

/** Writes the change with its audit line; resolves when every data-plane thread knows. */
async function change(
  context: AdminContext,
  operation: string,
  loaded: Awaited<ReturnType<typeof load>>,
  to: Partial<Key>,
) {
  const after = showKey({ ...loaded.key, ...to }, loaded.names)
  const line = { operation, resource: resource(loaded.key), before: loaded.before, after }
  await audited(context, line).keys.update(loaded.key.id, to)
  reachFaultPoint('key-change.after-commit')
  await context.runtime.publish()
  return after
}

async function readPolicy(context: AdminContext, name: string | undefined): Promise<string | null | undefined> {
  if (name === undefined) return undefined
  return name === 'none' ? null : (await findPolicy(context, name)).id
}

async function refuseTaken(context: AdminContext, name: string, { project, environment }: KeyHome): Promise<void> {
  const other = await context.store.keys.find(name, project.id, environment.id)
  if (other !== null && other.name === name && other.revokedAt === null)
    throw conflict(
      `The key ${name} already exists in ${project.name}/${environment.name}.`,
      `Choose another name, or give it a new secret: spgw keys rotate ${name} -p ${project.name} -e ${environment.name}`,
    )
}

function refuseRevoked(key: Key): void {
  if (key.revokedAt !== null)
    throw refused(
      `The key ${key.name} is revoked, which is permanent.`,
      'Create a new one: spgw keys create --name NAME',
    )
}

export const keys = {
  create: operations.keys.create.handler(async ({ context, input }) => {
    const scope = await findScope(context, input)
    await refuseTaken(context, input.name, scope)
    const { key: minted, secret } = mintSecret()
    const key: Key = {
      id: newId('key'),
      name: input.name,
      projectId: scope.project.id,
      environmentId: scope.environment.id,
      policyId: (await readPolicy(context, input.policy)) ?? null,
      tags: mergePairs({}, input.tags),
      createdAt: new Date().toISOString(),
      createdBy: context.caller.name,
      expiresAt: input.expires === undefined ? null : readEnd(input.expires),
      revokedAt: null,
      lastUsedAt: null,
      secrets: [secret],
    }
    const after = showKey(key, await loadKeyNames(context))
    await audited(context, { operation: 'keys.create', resource: resource(key), before: null, after }).keys.insert(key)
    await context.runtime.publish()
    const { id, name, project, environment, expires_at } = after
    return { id, name, key: minted, project, environment, expires_at }
  }),
  list: operations.keys.list.handler(async ({ context, input }) => {
    const scope = await findListScope(context, input)
    const names = await loadKeyNames(context)
    const found = await context.store.keys.list(scope.projectId, null)
    return found.filter(scope.includes).map((key) => showKey(key, names))
  }),
  show: operations.keys.show.handler(async ({ context, input }) => (await load(context, input)).before),
  usage: operations.keys.usage.handler(({ context, input, signal }) =>
    showKeyUsage(cancelledBy(context, signal), input),
  ),
  models: operations.keys.models.handler(({ context, input }) => listKeyModels(context, input)),
  edit: operations.keys.edit.handler(async ({ context, input }) => {
    const loaded = await load(context, input)
    const { key } = loaded
    refuseRevoked(key)
    if (input.name !== undefined && input.name !== key.name) await refuseTaken(context, input.name, scopeOf(loaded))
    const policyId = await readPolicy(context, input.policy)
    const after = await change(context, 'keys.edit', loaded, {
      name: input.name ?? key.name,
      tags: mergePairs(key.tags, input.tags),
      expiresAt: readExpiry(input.expires, key.expiresAt),
      policyId: policyId === undefined ? key.policyId : policyId,
    })
    // A name and tags keep nobody out.
    const nodes = input.expires === undefined && policyId === undefined ? null : await confirmReach(context)
    return { ...after, nodes }
  }),
  rotate: operations.keys.rotate.handler(async ({ context, input }) => {
    const loaded = await load(context, input)
    refuseRevoked(loaded.key)
    const { key: minted, secret } = mintSecret()
    const grace = readDuration(input.grace)
    const former = loaded.key.secrets[0]
    const graceEnd = new Date(Date.now() + grace).toISOString()
    const kept = grace > 0 && former !== undefined ? [{ ...former, expiresAt: graceEnd }] : []
    const after = await change(context, 'keys.rotate', loaded, { secrets: [secret, ...kept] })
    const { id, name, project, environment, expires_at, grace_ends_at } = after
    // Of two secrets before, the older one ends as well.
    const nodes = kept.length < loaded.key.secrets.length ? await confirmReach(context) : null
    return { id, name, key: minted, project, environment, expires_at, grace_ends_at, nodes }
  }),
  revoke: operations.keys.revoke.handler(async ({ context, input }) => {
    const loaded = await load(context, input)
    const { key, before } = loaded
    const revokedAt = new Date().toISOString()
    const revoke = () => change(context, 'keys.revoke', loaded, { revokedAt })
    const after = key.revokedAt === null ? await withReserve(context, revoke) : before
    if (input.closeStreams) context.runtime.closeStreams(key.id)
    return { ...after, nodes: await confirmReach(context, key.id) }
  }),
  remove: operations.keys.remove.handler(async ({ context, input }) => {
    const { key, before } = await load(context, input)
    await audited(context, { operation: 'keys.remove', resource: resource(key), before, after: null }).keys.remove(
      key.id,
    )
    await context.runtime.publish()
    return { id: key.id, name: key.name, removed: true as const, nodes: await confirmReach(context) }
  }),
}

function readExpiry(text: string | undefined, before: string | null): string | null {
  if (text === undefined) return before
  return text === 'never' ? null : readEnd(text)
}
