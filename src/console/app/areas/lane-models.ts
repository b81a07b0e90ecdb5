import { type LaneName, laneNames } from '../../../core/lane.ts'
import type { Provider, ProviderKind, Route } from './outputs.ts'

export type ModelsByLane = Record<LaneName, string[]>

type LinkedRoute = Pick<Route, 'model' | 'enabled' | 'project' | 'environment'> & {
  targets: readonly { provider: string }[]
}
type LinkedProvider = Pick<Provider, 'name' | 'kind' | 'active'> & { models: readonly { name: string }[] }
type LinkedKind = Pick<ProviderKind, 'kind' | 'speaks'>

/**
 * Model names that a request of this project and environment may ask for, by lane: first those of providers that have the lane
 * themselves, then all others, which are asked in translation. Of a pattern, the providers' own names that it matches.
 */
export function modelsByLane(
  scope: { project: string; environment: string },
  routes: readonly LinkedRoute[],
  providers: readonly LinkedProvider[],
  kinds: readonly LinkedKind[],
): ModelsByLane {
  const found: Record<LaneName, Set<string>> = { openai: new Set(), anthropic: new Set(), gemini: new Set() }
  const all = new Set<string>()
  const here = routes.filter(
    ({ enabled, project, environment }) =>
      enabled && project === scope.project && (environment === null || environment === scope.environment),
  )
  for (const route of here)
    for (const { provider: name } of route.targets) {
      const provider = providers.find((one) => one.name === name)
      if (provider === undefined || !provider.active) continue
      const own = kinds.find(({ kind }) => kind === provider.kind)?.speaks ?? []
      for (const model of namesOf(route.model, provider)) {
        all.add(model)
        for (const lane of own) found[lane].add(model)
      }
    }
  const of = (lane: LaneName) => [...new Set([...found[lane], ...all])]
  return { openai: of('openai'), anthropic: of('anthropic'), gemini: of('gemini') }
}

function namesOf(model: string, provider: LinkedProvider): string[] {
  if (!model.includes('*')) return [model]
  return provider.models.map(({ name }) => name).filter((name) => matchesPattern(model, name))
}

/** A pattern has one `*`. */
export function matchesPattern(pattern: string, name: string): boolean {
  const [start = '', end] = pattern.split('*', 2)
  if (end === undefined) return pattern === name
  return name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end)
}

export function allModels(byLane: ModelsByLane): string[] {
  return [...new Set(laneNames.flatMap((lane) => byLane[lane]))].sort()
}

/** A model name that this route serves: for a pattern, one that a target's provider has. */
export function sampleModel(
  { model, targets }: Pick<Route, 'model' | 'targets'>,
  providers: readonly Provider[],
): string {
  if (!model.includes('*')) return model
  const names = targets.flatMap(
    ({ provider }) => providers.find(({ name }) => name === provider)?.models.map(({ name }) => name) ?? [],
  )
  return names.find((name) => matchesPattern(model, name)) ?? model.replace('*', 'x')
}
