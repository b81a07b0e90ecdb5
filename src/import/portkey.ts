import type { SettingsFile } from '../config/settings-file.ts'
import { isObject } from '../core/json/is-object.ts'
import { parseDuration } from '../core/units.ts'
import { escapeVariables } from '../core/variables.ts'
import { type Converted, type ConvertedRoute, durationOf, mostRetries, slugOf } from './converted.ts'
import { ProviderPool } from './pool.ts'
import { convertTargets, skipStrategy, skipUnknown, type TargetLeaf } from './portkey-targets.ts'
import { listOf, numberOf, type Path, retriesOf, Source, settingIn, type Tree, textOf, timeoutOf } from './source.ts'
import { keepUsableRoutes } from './usable-routes.ts'
import type { Vendors } from './vendors.ts'

/** Portkey's configurations (portkey.ai/docs/product/ai-gateway/configs): one, or a list of named ones, as far as they have a counterpart. */
export function convertPortkey(file: SettingsFile, model: string, vendors?: Vendors): Converted {
  const source = new Source(file, vendors)
  const pool = new ProviderPool()
  const routes = configurationsIn(modernForm(escapeVariables(file.tree)), model, source).flatMap(
    ({ tree, name, path }) => convertConfiguration(tree, name, path, pool, source),
  )
  return {
    providers: pool.usable(source),
    policies: [],
    routes: keepUsableRoutes(routes, source),
    alerts: [],
    left: source.left,
  }
}

interface Named {
  tree: Tree
  /** The model that clients will name. */
  name: string
  path: Path
}

/** An export lists configurations with their names; a configuration alone says nothing of the models that it is used for. */
function configurationsIn(tree: Tree, model: string, source: Source): Named[] {
  const list = ['configs', 'data'].find((key) => Array.isArray(tree[key]))
  if (list === undefined) return [unwrap({ tree, name: model, path: [] })]
  return listOf(tree[list]).flatMap((entry, place) => {
    if (!isObject(entry) || typeof entry.config === 'string') {
      const advice = 'Give the file as Portkey exports it.'
      source.skip([list, place], 'a configuration', 'it is not an object with targets or a provider', advice)
      return []
    }
    const name = textOf(entry.slug) ?? textOf(entry.name) ?? model
    const inner = isObject(entry.config)
      ? { tree: entry.config, path: [list, place, 'config'] }
      : { tree: entry, path: [list, place] }
    return [{ ...inner, name: name === model ? model : slugOf(name) }]
  })
}

/** As the vendor's API answers: `{"success": true, "data": {"config": {…}}}`. */
function unwrap(named: Named): Named {
  const key = ['data', 'config'].find((one) => isObject(named.tree[one]))
  const inner = key === undefined ? null : named.tree[key]
  return key !== undefined && isObject(inner) ? unwrap({ ...named, tree: inner, path: [...named.path, key] }) : named
}

function convertConfiguration(
  tree: Tree,
  name: string,
  path: Path,
  pool: ProviderPool,
  source: Source,
): ConvertedRoute[] {
  skipSettings(tree, path, source)
  const strategy = isObject(tree.strategy) ? tree.strategy : {}
  if (strategy.mode !== 'conditional') {
    const leaves = convertTargets(tree, path, pool, source)
    return leaves.length === 0 ? [] : [makeRoute(name, tree, leaves, path, source)]
  }
  const targets = new Map(
    listOf(tree.targets).flatMap((target, place) =>
      isObject(target)
        ? [[textOf(target.name) ?? String(place), { target, path: [...path, 'targets', place] }] as const]
        : [],
    ),
  )
  return readConditions(strategy, name, [...path, 'strategy'], source).flatMap(({ model, target }) => {
    const found = targets.get(target)
    if (found === undefined) {
      const what = `the target ${target} of the model ${model}`
      source.skip([...path, 'strategy'], what, 'no target has that name', 'Add the route by hand.')
      return []
    }
    skipSettings(found.target, found.path, source)
    const leaves = convertTargets(found.target, found.path, pool, source)
    return leaves.length === 0
      ? []
      : [
          makeRoute(
            model,
            { ...tree, ...pickLimits(found.target), strategy: found.target.strategy },
            leaves,
            found.path,
            source,
          ),
        ]
  })
}

function pickLimits({ retry, request_timeout, cache }: Tree): Tree {
  return Object.fromEntries(
    Object.entries({ retry, request_timeout, cache }).filter(([, value]) => value !== undefined),
  )
}

function makeRoute(
  model: string,
  tree: Tree,
  leaves: readonly TargetLeaf[],
  path: Path,
  source: Source,
): ConvertedRoute {
  const isOrdered = new Set(leaves.map(({ priority }) => priority)).size === leaves.length
  const targets = leaves.map(({ provider, upstreamModel, weight, priority }) => ({
    provider,
    ...(upstreamModel === null ? {} : { upstream_model: upstreamModel }),
    ...(weight === 1 || isOrdered ? {} : { weight }),
    ...(isOrdered ? {} : { priority }),
  }))
  const route: ConvertedRoute = { model, ...(isOrdered ? {} : { strategy: 'weighted' as const }), targets }
  const retries = isObject(tree.retry)
    ? settingIn(tree.retry, [...path, 'retry'], 'attempts', 'count')
    : settingIn(tree, path, 'retry')
  const retry = retriesOf(retries, source)
  if (retry !== null) route.retries = Math.min(mostRetries, Math.max(0, Math.round(retry)))
  const statuses = statusesIn(isObject(tree.strategy) ? tree.strategy : {}, [...path, 'strategy'], source)
  if (statuses.length > 0) route.fallback_on = statuses
  const timeout = timeoutOf(settingIn(tree, path, 'request_timeout'), 1, source)
  if (timeout !== null) route.timeouts = { total: durationOf(timeout) }
  const cached = cacheOf(tree.cache)
  if (cached !== null) route.cache = durationOf(cached)
  return route
}

/** `{"mode": "simple", "max_age": 3600}`, in seconds: the same request, as here. Null: nothing of that kind is said. */
function cacheOf(cache: unknown): number | null {
  if (!isObject(cache) || cache.mode !== 'simple') return null
  const age = numberOf(cache.max_age)
  return age !== null && age > 0 && parseDuration(`${age}s`) !== null ? Math.round(age * 1000) : null
}

function statusesIn(strategy: Tree, path: Path, source: Source): string[] {
  const setting = settingIn(strategy, path, 'on_status_codes')
  const given = listOf(setting.value).map(String)
  const statuses = given.filter((text) => /^[45]\d\d$/.test(text))
  if (statuses.length < given.length)
    source.skip(
      setting.path,
      'a status to fall back on',
      'it is not the status of a failure',
      'Set it on the route: spgw routes edit MODEL --fallback-on LIST',
    )
  return statuses
}

function skipSettings(tree: Tree, path: Path, source: Source): void {
  for (const name of Object.keys(tree)) {
    const at = [...path, name]
    if (name !== 'cache') skipUnknown(name, at, source)
    else if (cacheOf(tree.cache) === null)
      source.skip(
        at,
        name,
        'a route answers the same request again, not a similar one, and says for how long',
        'Say it where you want it: spgw routes edit MODEL --cache 1h',
      )
  }
  if (isObject(tree.strategy)) skipStrategy(tree.strategy, [...path, 'strategy'], carriedOfStrategy, source)
  if (isObject(tree.retry) && tree.retry.on_status_codes !== undefined)
    source.skip(
      [...path, 'retry', 'on_status_codes'],
      'statuses to retry',
      'the statuses that are retried are fixed here',
      'Fallbacks can be chosen by status: spgw routes edit MODEL --fallback-on LIST.',
    )
}

const carriedOfStrategy = ['mode', 'on_status_codes', 'conditions', 'default']

interface Condition {
  model: string
  /** Name of a target. */
  target: string
}

/** Conditions on the model that is asked for are routes of those models; others have no counterpart. */
function readConditions(strategy: Tree, fallback: string, path: Path, source: Source): Condition[] {
  const conditions = listOf(strategy.conditions).flatMap((condition, place) => {
    const at = [...path, 'conditions', place]
    const target = isObject(condition) ? textOf(condition.then) : null
    const models = isObject(condition) && isObject(condition.query) ? modelsIn(condition.query) : null
    if (models !== null && target !== null) return models.map((model) => ({ model, target }))
    source.skip(
      at,
      'a condition',
      'routes depend on the model name only',
      'Give clients other model names, or keys of other environments.',
    )
    return []
  })
  const otherwise = textOf(strategy.default)
  const seen = new Set<string>()
  const all = otherwise === null ? conditions : [...conditions, { model: fallback, target: otherwise }]
  // The first that holds counts, there as here.
  return all.filter(({ model }) => !seen.has(model) && seen.add(model))
}

/** `{"params.model": "fast"}`, with `$eq` or `$in`; null: it asks for something else. */
function modelsIn(query: Tree): string[] | null {
  const entries = Object.entries(query)
  const [first] = entries
  if (first === undefined || entries.length > 1 || first[0] !== 'params.model') return null
  const [, value] = first
  if (typeof value === 'string') return [value]
  if (!isObject(value) || Object.keys(value).length !== 1) return null
  if (typeof value.$eq === 'string') return [value.$eq]
  const list = listOf(value.$in)
  return list.length > 0 && list.every((one) => typeof one === 'string') ? list : null
}

/** Portkey takes its members in camel case, too, and its first form had `mode` and `options`. What is overridden is the model's. */
function modernForm(tree: Tree): Tree {
  const named = Object.fromEntries(Object.entries(tree).map(([name, value]) => [snakeCase(name), value]))
  const { mode, options, ...rest } = named
  const isFirstForm = Array.isArray(options) && rest.targets === undefined
  const modern: Tree = isFirstForm ? { ...rest, strategy: { mode }, targets: options } : named
  return Object.fromEntries(Object.entries(modern).map(([name, value]) => [name, modernValue(name, value)]))
}

function modernValue(name: string, value: unknown): unknown {
  if (Array.isArray(value)) return listOf(value).map((one) => (isObject(one) ? modernForm(one) : one))
  return isObject(value) && !foreign.includes(name) ? modernForm(value) : value
}

/** Members whose content is not Portkey's. */
const foreign = ['override_params', 'query']

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
