import { type Fault, fault } from '../core/errors.ts'
import type { LaneName } from '../core/lane.ts'
import { matchesPattern } from '../core/pattern.ts'
import { closestNames } from '../core/text/closest-names.ts'
import { quote } from '../core/text/quote.ts'
import type { SkipCode, Skipped } from './candidates.ts'
import { type CompiledRoute, type CompiledRoutes, describeScope, type KeyScope } from './compile.ts'

interface ModelQuery extends KeyScope {
  maySee?(model: string): boolean
}

/** What the client is told names only what its key may see; what else there is, is the operator's. */
export function modelNotFound(
  query: ModelQuery,
  model: string,
  compiled: CompiledRoutes,
): { fault: Fault; operatorNote: string | null } {
  const close = closestNames(model, visibleNames(query, compiled))
  const hint =
    close.length === 0
      ? 'Check the name, or ask the operator to add a route for it.'
      : `Did you mean ${close.map(quote).join(' or ')}?`
  const message = `There is no model ${quote(model)} for this key. ${hint}`
  return {
    fault: fault('model_not_found', message, { param: 'model' }),
    operatorNote: findInOtherScope(query, model, compiled),
  }
}

function* visibleNames(query: ModelQuery, compiled: CompiledRoutes): Iterable<string> {
  for (const id of [query.environmentId, query.projectId]) {
    for (const [name, { route }] of compiled.scopes.get(id)?.exact ?? []) {
      if (route.enabled && (query.maySee?.(name) ?? true)) yield name
    }
  }
}

function findInOtherScope(query: KeyScope, model: string, compiled: CompiledRoutes): string | null {
  for (const [id, scope] of compiled.scopes) {
    if (id === query.environmentId || id === query.projectId) continue
    const found = scope.exact.get(model) ?? scope.patterns.find(({ pattern }) => matchesPattern(pattern, model))
    if (found) return describeOther(found)
  }
  return null
}

function describeOther({ route }: CompiledRoute): string {
  const state = route.enabled ? '' : ' (disabled)'
  return `Another scope has a route for this model${state}: ${route.model} of ${describeScope(route)}.`
}

/** Why no target can take the call: not now, or not in this format. */
export function noneUsable(
  query: { lane: LaneName; model: string | null; now: number },
  skipped: readonly Skipped[],
): Fault {
  const what = query.model === null ? 'this call' : `the model ${quote(query.model)}`
  const waiting = skipped.filter(
    ({ code }) => code !== 'format' && code !== 'limited' && code !== 'missing' && code !== 'weight',
  )
  const formats = skipped.filter(({ code }) => code === 'format')
  if (waiting.length === 0 && formats.length > 0) return notTranslatable(query.lane, what, formats)
  if (isOutOfQuota(waiting)) return fault('provider_quota_exhausted')
  const message = `No provider for ${what} is active and ready; try again later, or ask the operator, who sees why.`
  const retryAfterMs = soonest(waiting, query.now)
  return fault('provider_not_ready', message, {
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
    ...(skipped.some(isUnhealthy) ? { origin: 'provider' } : {}),
  })
}

const unhealthy: readonly SkipCode[] = ['failing', 'open', 'probing', 'cooling-down']

/** Whether a target was skipped for what its provider did, and not for how it is set up. */
export function isUnhealthy({ code }: Pick<Skipped, 'code'>): boolean {
  return unhealthy.includes(code)
}

/** Whether all that is wrong with targets is that their accounts are out of quota: no other will come back by itself. */
function isOutOfQuota(waiting: readonly Skipped[]): boolean {
  const failing = waiting.filter(isUnhealthy)
  return failing.length > 0 && failing.every(({ exhausted }) => exhausted)
}

function notTranslatable(lane: LaneName, what: string, skipped: readonly Skipped[]): Fault {
  const lanes = [...new Set(skipped.flatMap((target) => target.lanes))]
  const instead = lanes.length === 0 ? '' : `Call the ${lanes.join(' or ')} lane instead, or ask the operator`
  const advice = instead === '' ? 'Ask the operator' : instead
  const none = `No provider for ${what} has this call of the ${lane} lane, and the gateway does not translate it.`
  const message = `${none} ${advice} to route it to another provider.`
  return fault('not_translatable', message)
}

/** In milliseconds from now; null where only an operator can help. */
function soonest(waiting: readonly Skipped[], now: number): number | null {
  const times = waiting.flatMap(({ until }) => (until === null ? [] : [until - now]))
  return times.length === 0 ? null : Math.max(0, Math.min(...times))
}
