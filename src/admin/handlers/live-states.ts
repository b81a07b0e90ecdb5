import type { ShownState } from '../../core/provider-state.ts'
import { maskKeys } from '../../core/secrets/mask-keys.ts'
import { showProviderState, showTargetState } from '../../routing/shown-state.ts'
import type { Route } from '../../store/api.ts'
import type { Readiness } from '../../store/configuration/snapshot.ts'
import type { Runtime } from './context.ts'

/** What live calls and checks found, by provider id. */
export interface LiveStates {
  provider(id: string, checked: Readiness): ShownState
  /** Of a model that a route names as its target there, or of the pattern behind which its names are watched together. */
  target(id: string, upstreamModel: string): ShownState
  /** Models that calls have gone to, behind patterns too. */
  models(id: string): string[]
  /** Of calls that name no model; null: none has gone there. */
  withoutModel(id: string): ShownState | null
}

export function readStates({
  runtime,
}: {
  runtime: Pick<Runtime, 'snapshot' | 'health' | 'targets' | 'shownSince' | 'startedAt'>
}): LiveStates {
  const rows = new Map(runtime.snapshot().configuration.providers.map((row) => [row.id, row]))
  const provider = (id: string, checked: Readiness): ShownState => {
    const row = rows.get(id)
    // Added a moment ago: no call can have gone there.
    if (row === undefined) return { state: checked.state, reason: checked.reason, since: checked.since }
    const shown = showProviderState(checked, runtime.health(row.slot, row.credentials.length))
    // Of what calls found the check knows neither when it began nor when it ended.
    return { ...shown, since: latest(shown.since, runtime.shownSince(id, shown.state)) }
  }
  const targetsOf = (id: string) => {
    const row = rows.get(id)
    return row === undefined ? [] : runtime.targets(row.slot)
  }
  const target = (id: string, upstreamModel: string): ShownState => {
    const row = rows.get(id)
    if (row === undefined) return { state: 'unchecked', reason: null, since: null }
    const live = targetsOf(id).find(({ model }) => model === upstreamModel)?.health
    // What calls found of a target is forgotten with the process.
    return showTargetState(provider(id, row.readiness), live ?? { state: 'ready' }, runtime.startedAt)
  }
  return {
    provider,
    target,
    models: (id) => targetsOf(id).flatMap(({ model }) => (model === '' ? [] : [model])),
    withoutModel: (id) => (targetsOf(id).some(({ model }) => model === '') ? target(id, '') : null),
  }
}

const latest = (one: string | null, other: string | null) => ((one ?? '') > (other ?? '') ? one : other)

/** The name under which a route's target is watched: behind a pattern all its names together, until they have succeeded. */
export function watchedModel({ model }: Pick<Route, 'model'>, upstreamModel: string | null): string {
  return upstreamModel ?? model
}

export function showState({ state, reason, since }: ShownState) {
  return { state, state_reason: reason, state_since: since }
}

/** Calls that name no model have a state of their own, as each target has. */
export function showWithoutModel({ id }: { id: string }, states: LiveStates) {
  const state = states.withoutModel(id)
  return state && { concerns: 'files, batches, lists, stored responses', ...showState(state) }
}

/** The targets of a provider: those of routes, and what calls have gone to besides, by names that clients chose. */
export function showTargets({ id, name }: { id: string; name: string }, routes: readonly Route[], states: LiveStates) {
  const routed = routes.flatMap((route) =>
    route.targets
      .filter(({ providerId }) => providerId === id)
      .map(({ upstreamModel }) => watchedModel(route, upstreamModel)),
  )
  return [...new Set([...routed, ...states.models(id)])].sort().map((upstreamModel) => ({
    provider: name,
    upstream_model: maskKeys(upstreamModel),
    ...showState(states.target(id, upstreamModel)),
  }))
}
