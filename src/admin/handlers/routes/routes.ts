import type { FormatName } from '../../../core/format.ts'
import { newId } from '../../../core/ids.ts'
import { isFallbackCondition, notACondition } from '../../../core/routes/fallback-conditions.ts'
import { parseDuration } from '../../../core/units.ts'
import { bestOf } from '../../../routing/candidates.ts'
import { RouteIndex, validateRoute } from '../../../routing/plan.ts'
import type { Route } from '../../../store/api.ts'
import { audited } from '../audited.ts'
import { operations } from '../base.ts'
import { cancelledBy } from '../cancellation.ts'
import { confirmReach } from '../confirm-reach.ts'
import type { AdminContext } from '../context.ts'
import { conflict, invalid } from '../fault.ts'
import { findListScope, findRoute, findRouteScope, type RouteReference } from '../find.ts'
import { readStates, showState, watchedModel } from '../live-states.ts'
import { readTimeouts, showTimeouts } from '../moments.ts'
import { loadNames, type NamesById } from '../names.ts'
import { explainRoute } from './explain-route.ts'
import { showFormatLosses } from './format-losses.ts'
import { readOptions, showOptions } from './route-options.ts'
import { readTargets, showTarget } from './route-targets.ts'
import { showRouteTraffic } from './route-traffic.ts'
import { tryRoute } from './try-route.ts'

/** What an operator decided, as the audit keeps it. */
const configured = (route: Route, names: NamesById) => ({
  id: route.id,
  model: route.model,
  project: names.project(route.projectId),
  environment: route.environmentId === null ? null : names.environment(route.environmentId),
  enabled: route.enabled,
  strategy: route.strategy,
  targets: route.targets.map((target) => showTarget(target, names.provider)),
  retries: route.retries,
  fallback_on: route.fallbackOn,
  timeouts: showTimeouts(route.timeouts),
  strict: route.strict,
  echo_model: route.echoModel,
  ...showOptions(route, names),
  reasoning_text: route.reasoningText,
  fetch_media: route.fetchMedia,
  cache_ms: route.cacheMs,
  keep_responses_ms: route.keepResponsesMs,
  owned: names.owned(route.id),
  created_at: route.createdAt,
})
/** The same with what the gateway found of its targets. */
function show(context: AdminContext, route: Route, names: NamesById, states = readStates(context)) {
  const shown = configured(route, names)
  const targets = shown.targets.map((target, place) => ({
    ...target,
    formats: formatsOf(context, route.targets[place], route.model),
    ...showState(states.target(route.targets[place]?.providerId ?? '', watchedModel(route, target.upstream_model))),
  }))
  return { ...shown, targets }
}

/** In which its provider is asked; none for a provider that the data plane does not know yet. */
function formatsOf(
  { runtime, kinds }: AdminContext,
  target: Route['targets'][number] | undefined,
  model: string,
): FormatName[] {
  if (target === undefined) return []
  if (target.format !== null) return [target.format]
  const provider = runtime.snapshot().configuration.providers.find(({ id }) => id === target.providerId)
  const kind = provider && kinds.find((each) => each.kind === provider.kind)
  const given = kind?.formats ?? []
  const upstream = target.upstreamModel ?? model
  const settings = provider?.settings ?? {}
  const formats = typeof given === 'function' ? given(settings, upstream) : given
  const best = bestOf(formats, kind, { settings, model: upstream })
  return best === undefined ? [] : [best, ...formats.filter((format) => format !== best)]
}

const resource = ({ id, model }: Route) => ({ kind: 'route', id, name: model })

async function load(context: AdminContext, reference: RouteReference) {
  const route = await findRoute(context, reference)
  const names = await loadNames(context)
  return { route, names, before: configured(route, names) }
}

async function change(
  context: AdminContext,
  operation: string,
  { route, names, before }: Awaited<ReturnType<typeof load>>,
  to: Partial<Omit<Route, 'id' | 'projectId' | 'createdAt'>>,
) {
  const changed = { ...route, ...to }
  const after = configured(changed, names)
  await audited(context, { operation, resource: resource(route), before, after }).routes.update(route.id, to)
  await context.runtime.publish()
  return show(context, changed, names)
}

async function refuseImpossible(context: AdminContext, route: Route): Promise<void> {
  const others = (await context.store.routes.list(route.projectId)).filter(({ id }) => id !== route.id)
  const problem = validateRoute(route, new RouteIndex(others))
  if (problem === null) return
  // A name that is taken, or a tie, is a conflict with what exists; all else is the input's own fault.
  const alone = validateRoute(route, new RouteIndex([]))
  if (alone === null) throw conflict(problem.message, 'List them: spgw routes list')
  throw invalid(problem.message, 'See: spgw routes add --help')
}

const longestKeptMs = 30 * 24 * 3600_000

function readCache(text: string | null | undefined): number | null {
  const ms = text === undefined || text === null ? null : parseDuration(text)
  if (ms !== null && (ms < 1000 || ms > longestKeptMs))
    throw invalid('Answers are cached for 1s to 30d.', 'Write for example --cache 10m, or --cache none.')
  return ms
}

function readKept(text: string | null | undefined): number | null {
  const ms = text === undefined || text === null ? null : parseDuration(text)
  if (ms !== null && (ms < 60_000 || ms > longestKeptMs))
    throw invalid(
      'Responses are kept for 1m to 30d.',
      'Write for example --keep-responses 7d, or --keep-responses none.',
    )
  return ms
}

function readFallback(list: string[] | undefined): string[] | undefined {
  const words = list?.flatMap((text) => text.split(',')).map((word) => word.trim())
  for (const word of words ?? [])
    if (!isFallbackCondition(word))
      throw invalid(
        `${JSON.stringify(word)} ${notACondition}.`,
        'Write for example 429,503,provider_timeout or default,content_filter.',
      )
  return words
}

export const routes = {
  add: operations.routes.add.handler(async ({ context, input }) => {
    const { project, environment } = await findRouteScope(context, input)
    const strategy = input.strategy ?? 'priority'
    const targets = await readTargets(context, input, strategy, project.id)
    if (targets === null)
      throw invalid('The route has no target.', 'Name a provider with --provider NAME. List them: spgw providers list')
    const route: Route = {
      id: newId('rte'),
      projectId: project.id,
      environmentId: environment?.id ?? null,
      model: input.model,
      enabled: !input.disabled,
      strategy,
      targets,
      retries: input.retries ?? 1,
      fallbackOn: readFallback(input.fallbackOn) ?? [],
      timeouts: readTimeouts(input),
      strict: input.strict ?? false,
      echoModel: input.echoModel ?? false,
      ...(await readOptions(context, input, null, project.id)),
      reasoningText: input.reasoningText !== 'off',
      fetchMedia: input.fetchMedia ?? false,
      cacheMs: readCache(input.cache) ?? null,
      keepResponsesMs: readKept(input.keepResponses),
      createdAt: new Date().toISOString(),
    }
    await refuseImpossible(context, route)
    const names = await loadNames(context)
    const after = configured(route, names)
    const line = { operation: 'routes.add', resource: resource(route), before: null, after }
    await audited(context, line).routes.insert(route)
    await context.runtime.publish()
    return show(context, route, names)
  }),
  list: operations.routes.list.handler(async ({ context, input }) => {
    const scope = await findListScope(context, input)
    const names = await loadNames(context)
    const found = await context.store.routes.list(scope.projectId)
    const states = readStates(context)
    return found.filter(scope.includes).map((route) => show(context, route, names, states))
  }),
  show: operations.routes.show.handler(async ({ context, input }) => {
    const { route, names } = await load(context, input)
    return show(context, route, names)
  }),
  edit: operations.routes.edit.handler(async ({ context, input }) => {
    const loaded = await load(context, input)
    const { route } = loaded
    const strategy = input.strategy ?? route.strategy
    const to = {
      strategy,
      targets: (await readTargets(context, input, strategy, route.projectId)) ?? route.targets,
      retries: input.retries ?? route.retries,
      fallbackOn: readFallback(input.fallbackOn) ?? route.fallbackOn,
      timeouts: readTimeouts(input, route.timeouts),
      strict: input.strict ?? route.strict,
      echoModel: input.echoModel ?? route.echoModel,
      ...(await readOptions(context, input, route, route.projectId)),
      reasoningText: input.reasoningText === undefined ? route.reasoningText : input.reasoningText === 'on',
      fetchMedia: input.fetchMedia ?? route.fetchMedia,
      cacheMs: input.cache === undefined ? route.cacheMs : readCache(input.cache),
      keepResponsesMs: input.keepResponses === undefined ? route.keepResponsesMs : readKept(input.keepResponses),
    }
    await refuseImpossible(context, { ...route, ...to })
    const enabled = input.disabled === undefined ? route.enabled : !input.disabled
    const changed = await change(context, 'routes.edit', loaded, { ...to, enabled })
    return { ...changed, nodes: await confirmReach(context) }
  }),
  traffic: operations.routes.traffic.handler(({ context, input, signal }) =>
    showRouteTraffic(cancelledBy(context, signal), input),
  ),
  losses: operations.routes.losses.handler(({ input }) => showFormatLosses(input)),
  test: operations.routes.test.handler(({ context, input }) => tryRoute(context, input)),
  explain: operations.routes.explain.handler(({ context, input }) => explainRoute(context, input)),
  enable: operations.routes.enable.handler(async ({ context, input }) =>
    change(context, 'routes.enable', await load(context, input), { enabled: true }),
  ),
  disable: operations.routes.disable.handler(async ({ context, input }) => {
    const changed = await change(context, 'routes.disable', await load(context, input), { enabled: false })
    return { ...changed, nodes: await confirmReach(context) }
  }),
  cache: {
    clear: operations.routes.cache.clear.handler(async ({ context, input }) => {
      const { route, before } = await load(context, input)
      const line = { operation: 'routes.cache.clear', resource: resource(route), before, after: before }
      const cleared = await audited(context, line).cache.clear(route.id)
      return { id: route.id, model: route.model, cleared }
    }),
  },
  remove: operations.routes.remove.handler(async ({ context, input }) => {
    const { route, before } = await load(context, input)
    const line = { operation: 'routes.remove', resource: resource(route), before, after: null }
    await audited(context, line).routes.remove(route.id)
    await context.runtime.publish()
    return { id: route.id, name: route.model, removed: true as const, nodes: await confirmReach(context) }
  }),
}
