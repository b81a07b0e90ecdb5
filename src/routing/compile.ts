import type { LaneName } from '../core/lane.ts'
import { compilePattern, isExact, matchesPattern, type Pattern } from '../core/pattern.ts'
import type { Signal } from '../core/record.ts'
import { flatText } from '../core/text/flat-text.ts'
import type {
  ConfigurationSnapshot,
  SnapshotProvider,
  SnapshotRoute,
  SnapshotTarget,
} from '../store/configuration/snapshot.ts'
import type { HealthTarget } from './health.ts'

export interface CompiledTarget {
  target: SnapshotTarget
  /** null: the snapshot has no provider of that id. */
  provider: SnapshotProvider | null
  /** null: the name that the client asked for. */
  upstream: Pattern | null
  /** Whose health counts for it; its model is '' where the name is the client's. null: no route says. */
  watched: HealthTarget | null
}

export interface CompiledRoute {
  route: SnapshotRoute
  pattern: Pattern
  /** By priority, then as given. */
  targets: CompiledTarget[]
  matched: Signal
  disabled: Signal
}

/** The routes of one environment, or of a project for all its environments. */
interface RouteScope {
  exact: Map<string, CompiledRoute>
  /** More literal characters first, so that the first match is the right one. */
  patterns: CompiledRoute[]
  /** Those that its enabled routes use. */
  providers: Set<SnapshotProvider>
}

export interface CompiledRoutes {
  version: number
  /** By environment id, and by project id for routes of all environments. */
  scopes: Map<string, RouteScope>
  providers: readonly SnapshotProvider[]
  providersById: Map<string, SnapshotProvider>
  defaultProviders: Record<string, Partial<Record<LaneName, string>>>
}

/** Where a key stands. */
export interface KeyScope {
  projectId: string
  environmentId: string
  /** Providers of the kind `demo` alone. */
  onlyDemo?: true | undefined
}

/** Done once a snapshot; afterwards an exact name is one or two look-ups. */
export function compileRoutes(configuration: ConfigurationSnapshot): CompiledRoutes {
  const providersById = new Map(configuration.providers.map((provider) => [provider.id, provider]))
  const scopes = new Map<string, RouteScope>()
  for (const route of configuration.routes) addRoute(scopes, compileRoute(route, providersById))
  for (const scope of scopes.values()) scope.patterns.sort(byPrecedence)
  return {
    version: configuration.version,
    scopes,
    providers: configuration.providers,
    providersById,
    defaultProviders: configuration.defaultProviders,
  }
}

/**
 * The one route that serves a model in a scope. The environment's own routes beat the project's, an exact name beats a
 * pattern, more literal characters beat fewer (product.md section 3). `onDisabled` hears of each disabled route that
 * would have been taken.
 */
export function findRoute(
  compiled: CompiledRoutes,
  { environmentId, projectId }: KeyScope,
  model: string,
  onDisabled: (route: CompiledRoute) => void,
): CompiledRoute | null {
  const own = compiled.scopes.get(environmentId)
  const shared = compiled.scopes.get(projectId)
  return (own && findInScope(own, model, onDisabled)) ?? (shared && findInScope(shared, model, onDisabled)) ?? null
}

function findInScope(
  scope: RouteScope,
  model: string,
  onDisabled: (route: CompiledRoute) => void,
): CompiledRoute | null {
  const exact = scope.exact.get(model)
  if (exact?.route.enabled) return exact
  if (exact) onDisabled(exact)
  for (const candidate of scope.patterns) {
    if (!matchesPattern(candidate.pattern, model)) continue
    if (candidate.route.enabled) return candidate
    onDisabled(candidate)
  }
  return null
}

function addRoute(scopes: Map<string, RouteScope>, compiled: CompiledRoute): void {
  const { route, pattern, targets } = compiled
  const id = route.environmentId ?? route.projectId
  let scope = scopes.get(id)
  if (!scope) {
    scope = { exact: new Map(), patterns: [], providers: new Set() }
    scopes.set(id, scope)
  }
  if (isExact(pattern)) scope.exact.set(route.model, compiled)
  else scope.patterns.push(compiled)
  if (!route.enabled) return
  for (const { provider } of targets) if (provider) scope.providers.add(provider)
}

function compileRoute(route: SnapshotRoute, providers: Map<string, SnapshotProvider>): CompiledRoute {
  const pattern = compilePattern(route.model)
  const targets = route.targets.map((target) => {
    const provider = providers.get(target.providerId) ?? null
    const upstream = target.upstreamModel === null ? null : compilePattern(target.upstreamModel)
    return { target, provider, upstream, watched: provider && watchTarget(provider.slot, upstream ?? pattern) }
  })
  targets.sort((one, other) => one.target.priority - other.target.priority)
  const where = describeScope(route)
  const data = { route: route.id, pattern: route.model }
  return {
    route,
    pattern,
    targets,
    matched: {
      rule: 'route',
      verdict: 'taken',
      text: flatText(
        'Matched route ',
        route.model,
        ' in ',
        route.project,
        '/',
        route.environment ?? 'all environments',
        '.',
      ),
      data,
    },
    disabled: {
      rule: 'route',
      verdict: 'skipped',
      text: `Route ${route.model} of ${where} would have been taken, but is disabled.`,
      data,
    },
  }
}

function watchTarget(slot: number, named: Pattern): HealthTarget {
  return isExact(named) ? { slot, model: named.text, pattern: null } : { slot, model: '', pattern: named.text }
}

/** `project web, environment staging`. */
export function describeScope(route: Pick<SnapshotRoute, 'project' | 'environment'>): string {
  return `project ${route.project}, ${route.environment === null ? 'all environments' : `environment ${route.environment}`}`
}

/** Ties are refused when they are made; if one stands all the same, the text decides, so that all threads agree. */
function byPrecedence(one: CompiledRoute, other: CompiledRoute): number {
  return other.pattern.literals - one.pattern.literals || (one.pattern.text < other.pattern.text ? -1 : 1)
}
