import { errorCodes } from '../core/errors.ts'
import { type RouteShape, validateRoute } from '../routing/plan.ts'
import { readAttachment, targetProviders } from './attachments.ts'
import type { Change, Plan, Planned } from './plan.ts'
import { describe, type Identity, isObject, keyOf, objectsIn, type Plain, type Problem } from './resource.ts'

/** What is wrong with the outcome of a plan: everything that it refers to must exist, and no two routes may tie. */
export function checkOutcome(plan: Plan): Problem[] {
  const outcome = new Outcome(plan)
  return [...plan.changes.flatMap((change) => checkChange(outcome, change)), ...checkUsers(outcome, plan)]
}

class Outcome {
  readonly all: readonly Planned[]
  readonly routes: readonly RouteShape[]
  readonly #plan: Plan

  constructor(plan: Plan) {
    this.#plan = plan
    this.all = [...plan.outcome.values()]
    this.routes = this.all.filter(({ kind }) => kind === 'route').map(routeShape)
  }

  find(identity: Identity): Planned | null {
    return this.#plan.outcome.get(keyOf(identity)) ?? null
  }

  missing(identity: Identity): string[] {
    return this.find(identity) === null ? [`there is no ${describe(identity)}`] : []
  }
}

const named = (kind: 'project' | 'provider' | 'policy', name: string): Identity => ({
  ...{ kind, name },
  project: null,
  environment: null,
})
const environmentOf = (project: string, name: string): Identity => ({
  ...{ kind: 'environment', project, name },
  environment: null,
})

function checkChange(outcome: Outcome, { entry, after, kind }: Change): Problem[] {
  if (entry === null || after === null) return []
  const say = (field: string, messages: string[]) =>
    messages.map((message) => ({
      place: entry.placeOf[field] ?? entry.place,
      message: `${entry.kind} ${entry.name}: ${message}`,
    }))
  const scope = say('', checkScope(outcome, entry))
  if (kind === 'environment') {
    const providers = isObject(after.default_providers) ? Object.values(after.default_providers) : []
    return [...scope, ...say('default_providers', checkProviders(outcome, providers.map(String)))]
  }
  if (kind === 'provider')
    return say(
      'projects',
      texts(after.projects).flatMap((name) => outcome.missing(named('project', name))),
    )
  if (kind === 'policy')
    return say(
      'attach',
      texts(after.attach).flatMap((word) => checkAttachment(outcome, word)),
    )
  if (kind === 'key') {
    const policy = typeof after.policy === 'string' ? outcome.missing(named('policy', after.policy)) : []
    return [...scope, ...say('policy', policy)]
  }
  if (kind !== 'route') return scope
  if (scope.length > 0) return scope
  return [
    ...say('targets', checkTargets(outcome, entry, after.targets)),
    ...say('fallback_on', checkFallback(after.fallback_on)),
    ...checkRoute(outcome, entry),
  ]
}

function checkScope(outcome: Outcome, { kind, project, environment }: Identity): string[] {
  if (project === null) return []
  const missing = outcome.missing(named('project', project))
  if (missing.length > 0 || environment === null || kind === 'environment') return missing
  return outcome.missing(environmentOf(project, environment))
}

function checkProviders(outcome: Outcome, names: readonly string[]): string[] {
  return [...new Set(names)].flatMap((name) => outcome.missing(named('provider', name)))
}

function checkAttachment(outcome: Outcome, word: string): string[] {
  const identity = readAttachment(word)
  if (identity === null) return []
  return identity === undefined
    ? [`${JSON.stringify(word)} is nothing that a policy can apply to`]
    : outcome.missing(identity)
}

function checkTargets(outcome: Outcome, { project }: Identity, targets: Plain | undefined): string[] {
  const names = targetProviders(targets)
  const limited = names.filter((name) => {
    const allowed = outcome.find(named('provider', name))?.fields.projects
    return Array.isArray(allowed) && !allowed.includes(project)
  })
  return [...checkProviders(outcome, names), ...limited.map((name) => `provider ${name} is limited to other projects`)]
}

const statusForm = /^[45]\d\d$/
const codes: ReadonlySet<string> = new Set(errorCodes)

function checkFallback(words: Plain | undefined): string[] {
  return texts(words)
    .filter((word) => !statusForm.test(word) && !codes.has(word))
    .map((word) => `fallback_on: ${JSON.stringify(word)} is neither a status nor an error code`)
}

function checkRoute(outcome: Outcome, entry: Identity & { place: string; placeOf: Record<string, string> }): Problem[] {
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
  }
}

/** Nothing that remains may use what is removed. */
function checkUsers(outcome: Outcome, { changes }: Plan): Problem[] {
  return changes
    .filter(({ action }) => action === 'remove')
    .flatMap((removed) => {
      const users = outcome.all.filter((other) => uses(other, removed)).map(describe)
      if (users.length === 0) return []
      const more = users.length > 5 ? ` and ${users.length - 5} more` : ''
      const message = `cannot be removed: used by ${users.slice(0, 5).join(', ')}${more}`
      return [{ place: describe(removed), message }]
    })
}

function uses(user: Planned, used: Identity): boolean {
  const { fields } = user
  if (used.kind === 'project') return user.project === used.name && user.kind !== 'environment'
  if (used.kind === 'environment') return user.project === used.project && user.environment === used.name
  if (used.kind === 'policy') return user.kind === 'key' && fields.policy === used.name
  if (used.kind !== 'provider') return false
  if (user.kind === 'route') return targetProviders(fields.targets).includes(used.name)
  return isObject(fields.default_providers) && Object.values(fields.default_providers).includes(used.name)
}

function texts(value: Plain | undefined): string[] {
  return Array.isArray(value) ? value.filter((word) => typeof word === 'string') : []
}
