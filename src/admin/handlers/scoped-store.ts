import type { Policy, Provider, RecordFilter, StoreClient, Tables } from '../../store/api.ts'
import { storeAccess } from '../../store/operators/access.ts'
import { type GrantScope, isAble, isSeen } from './scope.ts'
import { hideOthers, isRecordSeen } from './scoped-runtime.ts'

/**
 * The store as far as the scope goes: what is of other projects is not there, and what is the workspace's is refused,
 * whatever a handler asks. A table that nobody has thought about here is refused whole.
 */
export function scopeStore(store: StoreClient, scope: GrantScope): StoreClient {
  if (scope.able === null) return store
  const refuse = () => {
    throw scope.refuse()
  }
  return {
    ...scopeTables(store, store, scope),
    until: (signal) => scopeTables(store.until(signal), store, scope),
    audited: (line) => scopeTables(store, store.audited(line), scope),
    upgrade: null,
    ingest: refuse,
    snapshot: refuse,
    health: refuse,
    onRecords: refuse,
    onTraffic: refuse,
    onSettledHolds: refuse,
    onLongTurn: refuse,
    onChange: refuse,
    purge: refuse,
    keepRecords: refuse,
    keepTraces: refuse,
    serveObjects: refuse,
    serveOutbox: refuse,
    readRecords: refuse,
    setWriters: refuse,
    watchThread: refuse,
    replica: refuse,
    share: refuse,
    alone: refuse,
    close: refuse,
  }
}

function scopeTables(read: Tables, write: Tables, scope: GrantScope): Tables {
  const closed = closeTables(scope)
  return {
    ...closed,
    projects: { ...closed.projects, ...scopeProjects(read, scope) },
    environments: { ...closed.environments, ...scopeEnvironments(read, write, scope) },
    providers: { ...closed.providers, ...scopeProviders(read, scope) },
    routes: { ...closed.routes, ...scopeRoutes(read, write, scope) },
    keys: { ...closed.keys, ...scopeKeys(read, write, scope) },
    policies: { ...closed.policies, ...scopePolicies(read, write, scope) },
    ownership: read.ownership,
    audit: { ...closed.audit, ...scopeAudit(read, write, scope) },
    objects: { ...closed.objects, ...scopeObjects(read, write, scope) },
    records: { ...closed.records, ...scopeRecords(read, scope) },
    bodies: { ...closed.bodies, ...scopeBodies(read, scope) },
    cache: { clear: (routeId) => clearCache(read, write, scope, routeId) },
  }
}

function closeTables(scope: GrantScope): Tables {
  const refuse = () => Promise.reject(scope.refuse())
  const tables = Object.entries(storeAccess).map(([table, methods]) => [
    table,
    Object.fromEntries(Object.keys(methods).map((method) => [method, refuse])),
  ])
  // `storeAccess` names every method of every table, which its type holds it to.
  return Object.fromEntries(tables) as Tables
}

type TablePart<Name extends keyof Tables> = Partial<Tables[Name]>

function requireAble(scope: GrantScope, projectId: string | undefined): void {
  if (projectId === undefined || !isAble(scope, projectId)) throw scope.refuse()
}

interface OwnedTable<Row, Change> {
  insert(row: Row): Promise<Row>
  update(id: string, change: Change): Promise<Row>
  remove(id: string): Promise<void>
}

/** The writes of a table whose rows each belong to one project: only where the caller may change that project. */
function writeOwn<Row extends { projectId: string }, Change>(
  table: OwnedTable<Row, Change>,
  scope: GrantScope,
  projectOf: (id: string) => Promise<string | undefined>,
): OwnedTable<Row, Change> {
  return {
    async insert(row) {
      requireAble(scope, row.projectId)
      return table.insert(row)
    },
    async update(id, change) {
      requireAble(scope, await projectOf(id))
      return table.update(id, change)
    },
    async remove(id) {
      requireAble(scope, await projectOf(id))
      return table.remove(id)
    },
  }
}

function scopeProjects(read: Tables, scope: GrantScope): TablePart<'projects'> {
  return {
    list: async () => (await read.projects.list()).filter(({ id }) => isSeen(scope, id)),
    names: async () =>
      (await read.projects.names()).filter(({ projectId }) => projectId !== null && isSeen(scope, projectId)),
    async find(nameOrId) {
      const project = await read.projects.find(nameOrId)
      if (project === null || !isSeen(scope, project.id)) return null
      requireAble(scope, project.id)
      return project
    },
  }
}

function scopeEnvironments(read: Tables, write: Tables, scope: GrantScope): TablePart<'environments'> {
  const seen = ({ projectId }: { projectId: string }) => isSeen(scope, projectId)
  const projectOf = async (id: string) => (await read.environments.list(null)).find((one) => one.id === id)?.projectId
  return {
    list: async (projectId) => (await read.environments.list(projectId)).filter(seen),
    async find(projectId, nameOrId) {
      return isSeen(scope, projectId) ? read.environments.find(projectId, nameOrId) : null
    },
    ...writeOwn(write.environments, scope, projectOf),
  }
}

/** Of a provider, whoever routes to it needs the name, the kind, the models and whether it is well: the rest is the workspace's. */
function scopeProviders(read: Tables, scope: GrantScope): TablePart<'providers'> {
  const { seen } = scope
  if (seen === null)
    return { list: read.providers.list, find: read.providers.find, revisions: read.providers.revisions }
  const usable = ({ projects }: Provider) => projects === null || projects.some((id) => seen.has(id))
  const show = (provider: Provider): Provider => ({
    ...provider,
    projects: provider.projects?.filter((id) => seen.has(id)) ?? null,
    tags: {},
    readiness: { ...provider.readiness, reason: null, code: null },
    revision: { ...provider.revision, baseUrl: '', headers: {}, timeouts: {}, settings: {}, credentials: [] },
  })
  return {
    list: async () => (await read.providers.list()).filter(usable).map(show),
    async find(nameOrId) {
      const provider = await read.providers.find(nameOrId)
      return provider !== null && usable(provider) ? show(provider) : null
    },
  }
}

function scopeRoutes(read: Tables, write: Tables, scope: GrantScope): TablePart<'routes'> {
  const projectOf = async (id: string) => (await read.routes.list(null)).find((one) => one.id === id)?.projectId
  return {
    list: async (projectId) => (await read.routes.list(projectId)).filter((route) => isSeen(scope, route.projectId)),
    async find(projectId, environmentId, modelOrId) {
      if (!isSeen(scope, projectId)) return null
      const route = await read.routes.find(projectId, environmentId, modelOrId)
      return route !== null && isSeen(scope, route.projectId) ? route : null
    },
    ...writeOwn(write.routes, scope, projectOf),
  }
}

function scopeObjects(read: Tables, write: Tables, scope: GrantScope): TablePart<'objects'> {
  return {
    list: (filter) =>
      read.objects.list(scope.seen === null ? filter : { ...filter, projects: within(filter, scope.seen) }),
    async remove(object) {
      requireAble(scope, object.projectId)
      return write.objects.remove(object)
    },
  }
}

async function clearCache(read: Tables, write: Tables, scope: GrantScope, routeId: string | null): Promise<number> {
  const route = (await read.routes.list(null)).find(({ id }) => id === routeId)
  requireAble(scope, route?.projectId)
  return await write.cache.clear(routeId)
}

/** No project at all is none, never all. */
function within({ projects }: { projects?: string[] }, seen: ReadonlySet<string>): string[] {
  return projects === undefined ? [...seen] : projects.filter((id) => seen.has(id))
}

function scopeKeys(read: Tables, write: Tables, scope: GrantScope): TablePart<'keys'> {
  const projectOf = async (id: string) => (await read.keys.find(id, null, null))?.projectId
  return {
    list: async (projectId, environmentId) =>
      (await read.keys.list(projectId, environmentId)).filter((key) => isSeen(scope, key.projectId)),
    async find(nameOrId, projectId, environmentId) {
      // Asked for everywhere, another project's key of that name must not make it ambiguous.
      for (const place of projectId === null ? (scope.seen ?? [null]) : [projectId]) {
        const key = await read.keys.find(nameOrId, place, environmentId)
        if (key !== null && isSeen(scope, key.projectId)) return key
      }
      return null
    },
    ...writeOwn(write.keys, scope, projectOf),
  }
}

/** A policy is of the projects that it holds for; what it holds for elsewhere does not show. */
function scopePolicies(read: Tables, write: Tables, scope: GrantScope): TablePart<'policies'> {
  const requireInside = async (policy: Policy) => {
    const places = await placesOf(read, policy)
    if (policy.attachedTo.workspace || places.length === 0) throw scope.refuse()
    for (const { projectId } of places) requireAble(scope, projectId)
  }
  const requireOne = async (id: string) => {
    const policy = await read.policies.find(id)
    if (policy === null) throw scope.refuse()
    await requireInside(policy)
    return policy
  }
  return {
    list: async () =>
      (await Promise.all((await read.policies.list()).map((one) => showPolicy(read, scope, one)))).filter(
        (one) => one !== null,
      ),
    async find(nameOrId) {
      const policy = await read.policies.find(nameOrId)
      return policy === null ? null : showPolicy(read, scope, policy)
    },
    async insert(policy) {
      await requireInside(policy)
      return write.policies.insert(policy)
    },
    async update(id, change) {
      const policy = await requireOne(id)
      await requireInside({ ...policy, ...change })
      return write.policies.update(id, change)
    },
    async remove(id) {
      await requireOne(id)
      return write.policies.remove(id)
    },
  }
}

interface PolicyTarget {
  id: string
  projectId: string
}

/** Everything that the policy holds for below the workspace: what it is attached to, and the keys that name it. */
async function placesOf(read: Tables, policy: Policy): Promise<PolicyTarget[]> {
  const [projects, environments, keys] = await Promise.all([
    read.projects.list(),
    read.environments.list(null),
    read.keys.list(null, null),
  ])
  const attached = new Set(policy.attachedTo.ids)
  return [
    ...projects.filter(({ id }) => attached.has(id)).map(({ id }) => ({ id, projectId: id })),
    ...environments.filter(({ id }) => attached.has(id)),
    ...keys.filter(({ id, policyId }) => attached.has(id) || policyId === policy.id),
  ]
}

async function showPolicy(read: Tables, scope: GrantScope, policy: Policy): Promise<Policy | null> {
  const places = (await placesOf(read, policy)).filter(({ projectId }) => isSeen(scope, projectId))
  if (places.length === 0 && !policy.attachedTo.workspace && scope.seen !== null) return null
  const shown = new Set(places.map(({ id }) => id))
  const ids = policy.attachedTo.ids.filter((id) => scope.seen === null || shown.has(id))
  return { ...policy, attachedTo: { ...policy.attachedTo, ids } }
}

function scopeAudit(read: Tables, write: Tables, scope: GrantScope): TablePart<'audit'> {
  const projects = scope.able === null ? null : [...scope.able]
  return {
    list: (filter) => read.audit.list(projects === null ? filter : { ...filter, projects }),
    async get(id) {
      const line = await read.audit.get(id)
      const visible =
        line !== null && (projects === null || (line.projectId !== null && projects.includes(line.projectId)))
      return visible ? line : null
    },
    note: () => write.audit.note(),
  }
}

function scopeBodies(read: Tables, scope: GrantScope): TablePart<'bodies'> {
  const records = scopeRecords(read, scope)
  return {
    find: async (id) =>
      (await records.get?.(id)) == null ? { bodies: [], missing: null } : await read.bodies.find(id),
    key: read.bodies.key,
  }
}

function scopeRecords(read: Tables, scope: GrantScope): TablePart<'records'> {
  const { seen } = scope
  if (seen === null) return read.records
  const narrow = (filter: RecordFilter): RecordFilter => ({ ...filter, projects: [...seen] })
  return {
    list: async (filter) => (await read.records.list(narrow(filter))).map(hideOthers),
    async search(filter, withinMs) {
      const page = await read.records.search(narrow(filter), withinMs)
      return { ...page, records: page.records.map(hideOthers) }
    },
    async get(id) {
      const record = await read.records.get(id)
      if (record === null) return null
      const names = (await read.projects.names()).filter(({ projectId }) => projectId !== null && seen.has(projectId))
      return isRecordSeen(record, names) ? hideOthers(record) : null
    },
    stats: async (filter, by) => read.records.stats(narrow(filter), by),
    usage: async (filter, lately) => read.records.usage(narrow(filter), lately),
    attempts: async (filter) => read.records.attempts(narrow(filter)),
    targets: async (filter, notIn) => read.records.targets(narrow(filter), notIn),
    series: async (filter, question) => read.records.series(narrow(filter), question),
    attemptSeries: async (filter, question) => read.records.attemptSeries(narrow(filter), question),
  }
}
