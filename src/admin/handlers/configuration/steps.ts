import { mapInSlices } from '../../../core/threads/slices.ts'
import { kindSpecs, writeField } from '../../../manifest/kinds.ts'
import type { ManifestPlan, PlannedChange } from '../../../manifest/plan.ts'
import type { Fields, ResourceKind } from '../../../manifest/resource.ts'
import type { ConfigurationStep, ConfigurationWrite, Key, OwnedField } from '../../../store/api.ts'
import { noted, writtenBy } from '../audited.ts'
import type { AdminContext } from '../context.ts'
import { mintSecret } from '../keys/mint-secret.ts'
import type { Found } from '../providers/provider-check.ts'
import { alertSteps, type MintedAlert } from './alert-steps.ts'
import { Identifiers } from './identifiers.ts'
import { providerSteps, revises } from './provider-steps.ts'
import { defaultProvidersOf, keyProperties, policyOf, routeOf, secretsOf } from './rows.ts'
import type { CurrentState } from './state.ts'

/** Keys that the plan makes without knowing their secrets: shown once, as `keys create` does it. */
export interface MintedKey {
  id: string
  name: string
  project: string
  environment: string
  key: string
}

export interface Steps {
  write: ConfigurationWrite
  minted: MintedKey[]
  alerts: MintedAlert[]
}

type StepContext = Pick<AdminContext, 'keyring' | 'caller' | 'store' | 'runtime'>

/** The plan as one write: everything is made before anything refers to it, and nothing is removed that is still used. */
export async function writePlan(
  context: StepContext,
  { state, plan, owner }: { state: CurrentState; plan: ManifestPlan; owner: string },
  found: ReadonlyMap<string, Found>,
): Promise<Steps> {
  const ids = new Identifiers(state.resources, plan)
  const nextRevision = await readNextRevisions(context, plan)
  const maker = new StepMaker(context, ids)
  const provider = (change: PlannedChange) =>
    providerSteps(context, change, { state, ids, found, nextRevision }, maker.audit(change))
  const alerts: MintedAlert[] = []
  const made = await mapInSlices(plan.changes, (change) => {
    if (change.action === 'remove') return maker.remove(change)
    if (change.kind === 'alert') return alertSteps(context, change, { ids, state, minted: alerts }, maker.audit(change))
    return change.kind === 'provider' ? provider(change) : maker.make(change)
  })
  const steps = made.flat()
  const [deferred, early] = [steps.filter(isDeferred), steps.filter((step) => !isDeferred(step))]
  const own: OwnedField[] = plan.own.map(({ key, field }) => ({ resourceId: maker.idOf(key), field, owner }))
  const release = plan.release.map(({ key, field }) => ({ resourceId: maker.idOf(key), field }))
  const removals = early.filter(({ method }) => method === 'remove')
  const rest = early.filter(({ method }) => method !== 'remove')
  return {
    write: { head: state.head, steps: [...rest, ...deferred, ...removals], own, release },
    minted: maker.minted,
    alerts,
  }
}

/** An environment names providers that are made after it. */
function isDeferred({ table, method }: ConfigurationStep): boolean {
  return table === 'environments' && method === 'update'
}

async function readNextRevisions({ store }: StepContext, { changes }: ManifestPlan): Promise<Map<string, number>> {
  const next = new Map<string, number>()
  for (const change of changes) {
    if (change.kind !== 'provider' || change.id === null || !revises(change)) continue
    const numbers = (await store.providers.revisions(change.id)).map(({ number }) => number)
    next.set(change.id, Math.max(0, ...numbers) + 1)
  }
  return next
}

const tables: Record<ResourceKind, ConfigurationStep['table']> = {
  project: 'projects',
  environment: 'environments',
  provider: 'providers',
  policy: 'policies',
  key: 'keys',
  route: 'routes',
  alert: 'alerts',
}

class StepMaker {
  readonly minted: MintedKey[] = []
  readonly #context: StepContext
  readonly #ids: Identifiers
  readonly #createdAt = new Date().toISOString()

  constructor(context: StepContext, ids: Identifiers) {
    this.#context = context
    this.#ids = ids
  }

  idOf(key: string): string {
    const [kind, project, environment, name] = JSON.parse(key) as [ResourceKind, string | null, string | null, string]
    return this.#ids.of({ kind, project, environment, name })
  }

  audit(change: PlannedChange): ConfigurationStep['audit'] {
    const { caller } = this.#context
    const show = (fields: Fields | null) => (fields === null ? null : noted(showFields(change, fields)))
    return {
      ...writtenBy(caller),
      operation: 'apply',
      resource: { kind: change.kind, id: this.#ids.of(change), name: change.name },
      before: show(change.before),
      after: show(change.after),
    }
  }

  remove(change: PlannedChange): ConfigurationStep[] {
    const step = { table: tables[change.kind], method: 'remove', input: [this.#ids.of(change)] }
    return [{ ...step, audit: this.audit(change) } as ConfigurationStep]
  }

  make(change: PlannedChange): ConfigurationStep[] {
    const audit = this.audit(change)
    const id = this.#ids.of(change)
    const isNew = change.action === 'create'
    const fields = change.after ?? {}
    const createdAt = this.#createdAt
    switch (change.kind) {
      case 'project':
        return [{ table: 'projects', method: 'insert', input: [{ id, name: change.name, createdAt }], audit }]
      case 'environment':
        return this.#makeEnvironment(change, id, fields, audit)
      case 'policy': {
        const rules = policyOf(fields, this.#ids)
        return isNew
          ? [{ table: 'policies', method: 'insert', input: [{ id, name: change.name, createdAt, ...rules }], audit }]
          : [{ table: 'policies', method: 'update', input: [id, rules], audit }]
      }
      case 'key':
        return isNew
          ? [{ table: 'keys', method: 'insert', input: [this.#makeKey(change, id, fields)], audit }]
          : [{ table: 'keys', method: 'update', input: [id, keyProperties(fields, this.#ids)], audit }]
      default: {
        const rules = routeOf(fields, this.#ids)
        const scope = this.#scopeOf(change)
        return isNew
          ? [
              {
                table: 'routes',
                method: 'insert',
                input: [{ id, ...scope, model: change.name, ...rules, createdAt }],
                audit,
              },
            ]
          : [{ table: 'routes', method: 'update', input: [id, rules], audit }]
      }
    }
  }

  #makeEnvironment(
    change: PlannedChange,
    id: string,
    fields: Fields,
    audit: ConfigurationStep['audit'],
  ): ConfigurationStep[] {
    const defaultProviders = defaultProvidersOf(fields, this.#ids)
    const update = (line: ConfigurationStep['audit']): ConfigurationStep => ({
      ...{ table: 'environments', method: 'update' },
      ...{ input: [id, { defaultProviders }], audit: line },
    })
    if (change.action !== 'create') return [update(audit)]
    const projectId = this.#ids.ofWorkspace('project', change.project ?? '')
    const row = { id, projectId, name: change.name, defaultProviders: {}, createdAt: this.#createdAt }
    const insert: ConfigurationStep = { table: 'environments', method: 'insert', input: [row], audit }
    return Object.keys(defaultProviders).length === 0 ? [insert] : [insert, update(null)]
  }

  #scopeOf({ project, environment }: PlannedChange): { projectId: string; environmentId: string | null } {
    const projectId = this.#ids.ofWorkspace('project', project ?? '')
    const environmentId = environment === null ? null : this.#ids.environment(project ?? '', environment)
    return { projectId, environmentId }
  }

  #makeKey(change: PlannedChange, id: string, fields: Fields): Key {
    const { name, project, environment } = change
    const scope = this.#scopeOf(change)
    return {
      id,
      name,
      projectId: scope.projectId,
      environmentId: scope.environmentId ?? '',
      ...keyProperties(fields, this.#ids),
      createdAt: this.#createdAt,
      createdBy: this.#context.caller.name,
      revokedAt: null,
      lastUsedAt: null,
      secrets: this.#secretsFor({ id, name, project: project ?? '', environment: environment ?? '' }, fields),
    }
  }

  #secretsFor(key: Omit<MintedKey, 'key'>, fields: Fields): Key['secrets'] {
    const known = secretsOf(fields)
    if (known.length > 0) return known
    const { key: minted, secret } = mintSecret()
    this.minted.push({ ...key, key: minted })
    return [secret]
  }
}

/** All fields, as a file writes them: of credentials and keys what anybody may see. */
function showFields({ kind, name, project, environment }: PlannedChange, fields: Fields): Record<string, unknown> {
  const scope = kindSpecs[kind].scope.length === 0 ? {} : { project, environment }
  const shown = Object.keys(fields).map((field) => [field, writeField(kind, field, fields)])
  return { [kindSpecs[kind].nameField]: name, ...scope, ...Object.fromEntries(shown) }
}
