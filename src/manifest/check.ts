import { isObject } from '../core/json/is-object.ts'
import { isFallbackCondition, notACondition } from '../core/routes/fallback-conditions.ts'
import { parseShadow } from '../core/routes/route-options.ts'
import { inSlices, mapInSlices } from '../core/threads/slices.ts'
import { RouteIndex, validateRoute } from '../routing/plan.ts'
import { readAttachment, targetProviders } from './attachments.ts'
import { firstOf } from './bounded-problems.ts'
import type { ManifestPlan, Planned, PlannedChange } from './plan.ts'
import { describe, type Fields, type Identity, keyOf, objectsIn, type Plain, type Problem } from './resource.ts'

/** Whether calls of a lane can be sent to providers of a kind as they are. */
export type Serves = (kind: string, lane: string) => boolean

/** What is wrong with the outcome of a plan: everything that it refers to must exist and fit, and no two routes may tie. */
export async function checkOutcome(plan: ManifestPlan, serves: Serves): Promise<Problem[]> {
  const outcome = new ManifestCheck(plan, serves)
  const problems = await mapInSlices(plan.changes, (change) => checkChange(outcome, change))
  return [...problems.flat(), ...(await checkUsers(outcome, plan))]
}

class ManifestCheck {
  readonly all: readonly Planned[]
  readonly routes: RouteIndex
  readonly #plan: ManifestPlan
  readonly #serves: Serves
  /** By provider: the projects that may use it; null: all. */
  readonly #projects = new Map<string, ReadonlySet<unknown> | null>()

  constructor(plan: ManifestPlan, serves: Serves) {
    this.#plan = plan
    this.#serves = serves
    this.all = [...plan.outcome.values()]
    const routes = this.all.filter(({ kind }) => kind === 'route')
    this.routes = new RouteIndex(routes.map(routeShape))
  }

  find(identity: Identity): Planned | null {
    return this.#plan.outcome.get(keyOf(identity)) ?? null
  }

  missing(identity: Identity): string[] {
    return this.find(identity) === null ? [`there is no ${describe(identity)}`] : []
  }

  /** Calls without a model are never translated. */
  mayDefault(lane: string, provider: string): boolean {
    const kind = this.find(workspaceOwn('provider', provider))?.fields.kind
    return typeof kind !== 'string' || this.#serves(kind, lane)
  }

  mayUse(project: string | null, provider: string): boolean {
    let projects = this.#projects.get(provider)
    if (projects === undefined) {
      const named = this.find(workspaceOwn('provider', provider))?.fields.projects
      projects = Array.isArray(named) ? new Set(named) : null
      this.#projects.set(provider, projects)
    }
    return projects === null || projects.has(project)
  }
}

const workspaceOwn = (kind: 'project' | 'provider' | 'policy', name: string): Identity => ({
  ...{ kind, name },
  project: null,
  environment: null,
})
const environmentOf = (project: string, name: string): Identity => ({
  ...{ kind: 'environment', project, name },
  environment: null,
})

function checkChange(outcome: ManifestCheck, { entry, after, kind }: PlannedChange): Problem[] {
  if (entry === null || after === null) return []
  const say = (field: string, messages: string[]) =>
    messages.map((message) => ({
      place: entry.placeOf[field] ?? entry.place,
      message: `${entry.kind} ${entry.name}: ${message}`,
    }))
  const scope = say('', checkScope(outcome, entry))
  if (kind === 'environment') {
    return [...scope, ...say('default_providers', checkDefaults(outcome, after))]
  }
  if (kind === 'provider')
    return say(
      'projects',
      texts(after.projects).flatMap((name) => outcome.missing(workspaceOwn('project', name))),
    )
  if (kind === 'policy')
    return say(
      'attach',
      texts(after.attach).flatMap((word) => checkAttachment(outcome, word)),
    )
  if (kind === 'key') {
    const policy = typeof after.policy === 'string' ? outcome.missing(workspaceOwn('policy', after.policy)) : []
    return [...scope, ...say('policy', policy)]
  }
  if (kind !== 'route') return scope
  if (scope.length > 0) return scope
  return [
    ...say('targets', checkTargets(outcome, entry, after.targets)),
    ...say('shadow', checkTargets(outcome, entry, shadowTargets(after.shadow))),
    ...say('fallback_on', checkFallback(after.fallback_on)),
    ...checkRoute(outcome, entry),
  ]
}

function checkScope(outcome: ManifestCheck, { kind, project, environment }: Identity): string[] {
  if (project === null) return []
  const missing = outcome.missing(workspaceOwn('project', project))
  if (missing.length > 0 || environment === null || kind === 'environment') return missing
  return outcome.missing(environmentOf(project, environment))
}

function checkProviders(outcome: ManifestCheck, names: readonly string[]): string[] {
  return [...new Set(names)].flatMap((name) => outcome.missing(workspaceOwn('provider', name)))
}

function checkDefaults(outcome: ManifestCheck, fields: Fields): string[] {
  const { default_providers: written } = fields
  const unfit = Object.entries(isObject(written) ? written : {}).flatMap(([lane, name]) =>
    typeof name !== 'string' || outcome.mayDefault(lane, name)
      ? []
      : [`provider ${name} cannot be the default of ${lane}: its kind does not serve it`],
  )
  return [...checkProviders(outcome, defaultProviders(fields)), ...unfit]
}

function checkAttachment(outcome: ManifestCheck, word: string): string[] {
  const identity = readAttachment(word)
  if (identity === null) return []
  return identity === undefined
    ? [`${JSON.stringify(word)} is nothing that a policy can apply to`]
    : outcome.missing(identity)
}

function checkTargets(outcome: ManifestCheck, { project }: Identity, targets: Plain | undefined): string[] {
  const names = targetProviders(targets)
  const limited = names.filter((name) => !outcome.mayUse(project, name))
  return [...checkProviders(outcome, names), ...limited.map((name) => `provider ${name} is limited to other projects`)]
}

function shadowTargets(written: Plain | undefined): Plain[] {
  const target = typeof written === 'string' ? parseShadow(written) : null
  return target === null ? [] : [{ provider: target.provider }]
}

function checkFallback(words: Plain | undefined): string[] {
  return texts(words)
    .filter((word) => !isFallbackCondition(word))
    .map((word) => `fallback_on: ${JSON.stringify(word)} ${notACondition}`)
}

function checkRoute(
  outcome: ManifestCheck,
  entry: Identity & { place: string; placeOf: Record<string, string> },
): Problem[] {
  const own = outcome.find(entry)
  if (own === null) return []
  const problem = validateRoute(routeShape(own), outcome.routes)
  if (problem === null) return []
  return [{ place: entry.placeOf[problem.field] ?? entry.place, message: `route ${entry.name}: ${problem.message}` }]
}

/** Names serve as ids here: they are only compared. */
function routeShape(route: Planned) {
  const targets = objectsIn(route.fields.targets)
  return {
    id: keyOf(route),
    projectId: route.project ?? '',
    environmentId: route.environment,
    model: route.name,
    targets: targets.map(({ upstream_model, weight, priority }) => ({
      upstreamModel: typeof upstream_model === 'string' ? upstream_model : null,
      weight: Number(weight),
      priority: Number(priority),
    })),
    shadow: typeof route.fields.shadow === 'string' ? parseShadow(route.fields.shadow) : null,
  }
}

/** As many users of one resource are named. */
const usersNamed = 5

/** Nothing that remains may use what is removed. */
async function checkUsers(outcome: ManifestCheck, { changes }: ManifestPlan): Promise<Problem[]> {
  const removed = changes.filter(({ action }) => action === 'remove')
  if (removed.length === 0) return []
  const users = new Map<string, Planned[]>(removed.map((change) => [keyOf(change), []]))
  await inSlices(outcome.all, (user) => {
    for (const used of new Set(usedBy(user).map(keyOf))) users.get(used)?.push(user)
  })
  return removed.flatMap((change) => {
    const names = users.get(keyOf(change)) ?? []
    if (names.length === 0) return []
    return [
      { place: describe(change), message: `cannot be removed: used by ${firstOf(names.map(describe), usersNamed)}` },
    ]
  })
}

/** What cannot be removed while this is there. */
function usedBy({ kind, project, environment, fields }: Planned): Identity[] {
  const used: Identity[] = []
  if (project !== null && kind !== 'environment') used.push(workspaceOwn('project', project))
  if (project !== null && environment !== null) used.push(environmentOf(project, environment))
  if (kind === 'key' && typeof fields.policy === 'string') used.push(workspaceOwn('policy', fields.policy))
  const providers = kind === 'route' ? routeProviders(fields) : defaultProviders(fields)
  return [...used, ...providers.map((name) => workspaceOwn('provider', name))]
}

function routeProviders({ targets, shadow }: Fields): string[] {
  return [...targetProviders(targets), ...targetProviders(shadowTargets(shadow))]
}

function defaultProviders({ default_providers }: Fields): string[] {
  return isObject(default_providers) ? Object.values(default_providers).filter((name) => typeof name === 'string') : []
}

function texts(value: Plain | undefined): string[] {
  return Array.isArray(value) ? value.filter((word) => typeof word === 'string') : []
}
