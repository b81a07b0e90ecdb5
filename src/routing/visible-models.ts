import type { ModelPrice } from '../core/cost/model-price.ts'
import type { LaneName } from '../core/lane.ts'
import { captureStar, fillStar, isExact, matchesPattern } from '../core/pattern.ts'
import type { SnapshotProvider } from '../store/configuration/snapshot.ts'
import { type Kinds, mayUse, upstreamName } from './candidates.ts'
import { type CompiledRoute, type CompiledRoutes, type CompiledTarget, findRoute, type KeyScope } from './compile.ts'

export interface VisibleModel {
  name: string
  routeId: string
  /** Slug of the kind that serves it first. */
  providerKind: string
  contextTokens: number | null
  outputTokens: number | null
}

export interface ModelsQuery extends KeyScope {
  lane: LaneName
  kinds: Kinds
  /** Whether the key's policies let it see a model of that name; unset: all. */
  maySee?(model: string): boolean
  /** What a model reads and writes at most, where the provider's own list does not say it; unset: nobody knows. */
  priceOf?(provider: SnapshotProvider, model: string): Pick<ModelPrice, 'max_input' | 'max_output'> | null
}

/** The models that some enabled route with an active provider serves on the lane, by name. Source: contract.md rule 6. */
export function visibleModels(query: ModelsQuery, compiled: CompiledRoutes): VisibleModel[] {
  const found = new Map<string, VisibleModel>()
  for (const id of [query.environmentId, query.projectId]) {
    const scope = compiled.scopes.get(id)
    for (const route of [...(scope?.exact.values() ?? []), ...(scope?.patterns ?? [])]) {
      for (const name of namesOf(query, route)) {
        if (found.has(name) || !(query.maySee?.(name) ?? true)) continue
        // Another route may take the name before this one does: it then speaks for it, also when it cannot serve it.
        if (findRoute(compiled, query, name, ignore) !== route) continue
        const model = describe(query, route, name)
        if (model) found.set(name, model)
      }
    }
  }
  return [...found.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
}

/** One model by its name, which may be any that a pattern serves: a provider's own list need not be complete, or known. */
export function findVisibleModel(query: ModelsQuery, compiled: CompiledRoutes, name: string): VisibleModel | null {
  if (query.maySee?.(name) === false) return null
  const route = findRoute(compiled, query, name, ignore)
  return route?.route.enabled === true ? describe(query, route, name) : null
}

/** An exact route's name; a pattern's names are those in its providers' own lists, mapped back through the renaming. */
function namesOf(query: ModelsQuery, { route, pattern, targets }: CompiledRoute): string[] {
  if (!route.enabled) return []
  if (isExact(pattern)) return [route.model]
  return targets
    .filter((target) => canServe(query, target))
    .flatMap(({ provider, upstream }) => {
      const asked = upstream ?? pattern
      // A pattern that is renamed to one fixed name says nothing about the names it is asked for.
      if (isExact(asked)) return []
      const listed = provider?.models.filter((model) => matchesPattern(asked, model.name)) ?? []
      return listed.map((model) => fillStar(pattern, captureStar(asked, model.name)))
    })
}

function canServe(query: ModelsQuery, { target, provider }: CompiledTarget): boolean {
  if (!provider?.active || target.weight === 0) return false
  if (!canAnswer(query, provider)) return false
  return mayUse(query, provider)
}

/** A provider that can be asked in any format can be asked in all, translated. */
function canAnswer({ kinds, lane }: ModelsQuery, provider: SnapshotProvider): boolean {
  const kind = kinds.get(provider.kind)
  return kind !== undefined && (kind.formats !== undefined || kind.lanes.includes(lane))
}

function describe(query: ModelsQuery, route: CompiledRoute, name: string): VisibleModel | null {
  const target = route.targets.find((each) => canServe(query, each))
  if (!target?.provider) return null
  const { provider, upstream } = target
  const wanted = upstreamName(route.pattern, upstream, name)
  const known = provider.models.find((model) => model.name === wanted)
  const price = query.priceOf?.(provider, wanted)
  return {
    name,
    routeId: route.route.id,
    providerKind: provider.kind,
    contextTokens: known?.contextTokens ?? price?.max_input ?? null,
    outputTokens: known?.outputTokens ?? price?.max_output ?? null,
  }
}

function ignore(): void {}
