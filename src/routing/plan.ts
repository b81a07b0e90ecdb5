import { type Fault, fault } from '../core/errors.ts'
import type { Pattern } from '../core/pattern.ts'
import type { Signal } from '../core/record.ts'
import { quote } from '../core/text/quote.ts'
import type { SnapshotProvider, SnapshotRoute } from '../store/configuration/snapshot.ts'
import {
  type Candidate,
  evaluateTarget,
  type Skipped,
  skippedSignal,
  skipUnweighted,
  type TargetQuery,
  takenSignal,
  upstreamName,
} from './candidates.ts'
import { type CompiledRoutes, type CompiledTarget, findRoute, type KeyScope } from './compile.ts'
import { findPinned, type Pin } from './pinned-plan.ts'
import { chooseProvider } from './provider-choice.ts'
import { modelNotFound, noneUsable } from './rejections.ts'
import { type Figures, orderCandidates } from './strategy.ts'

export { type Candidate, type Kinds, mayUse, servesOperation } from './candidates.ts'
export { type CompiledRoutes, compileRoutes } from './compile.ts'
export { RouteIndex, type RouteShape } from './route-index.ts'
export { validateRoute } from './validate-route.ts'
export { findVisibleModel, type ModelsQuery, type VisibleModel, visibleModels } from './visible-models.ts'

export interface PlanQuery extends TargetQuery, KeyScope {
  /** null: the call names none (contract.md rule 2). */
  model: string | null
  /** For a call with several requests, which all go to one provider: the other models that they name. */
  additionalModels?: readonly { name: string }[] | undefined
  /** The header `x-sp-provider`; chooses only for calls without a model. */
  providerName: string | null
  /** The only place that has the object which the call names. */
  pin?: Pin | null
  /** Whether the key's policies let it see the model; absent: it sees all. */
  maySee?(model: string): boolean
  /** At least 0, less than 1. */
  random(): number
  figures: Figures
}

export type Plan =
  /** At least one candidate, in the order in which they are to be tried. `route` is null for a call without a model. */
  | { fault: null; route: SnapshotRoute | null; candidates: Candidate[]; skipped: Skipped[]; signals: Signal[] }
  /** `operatorNote` is for operators only; it is among the signals, too. */
  | {
      fault: Fault
      route: SnapshotRoute | null
      candidates: []
      skipped: Skipped[]
      signals: Signal[]
      operatorNote: string | null
    }

/** Where a call may go, in order, and why. A pure function, used for requests and for `routes explain`. */
export function plan(query: PlanQuery, compiled: CompiledRoutes): Plan {
  if (query.additionalModels !== undefined) return planTogether(query, query.additionalModels, compiled)
  if (query.pin) return planPinned(query, query.pin, compiled)
  return query.model === null ? planWithoutModel(query, compiled) : planModel(query, query.model, compiled)
}

/** The targets whose providers serve all of the models, in the order of the first model. */
function planTogether(
  { additionalModels: _, ...query }: PlanQuery,
  additional: readonly { name: string }[],
  compiled: CompiledRoutes,
): Plan {
  const first = plan(query, compiled)
  if (first.fault !== null) return first
  const others = additional.map(({ name }) => plan({ ...query, model: name }, compiled))
  const refused = others.find((other) => other.fault !== null)
  if (refused !== undefined) return refused
  const candidates = first.candidates.flatMap((candidate) => {
    const names = others.map((other) => nameAt(other.candidates, candidate.provider))
    if (!names.every((name) => name !== null)) return []
    // A translated call has only one model.
    return [candidate.translated === null ? { ...candidate, additionalUpstreamModels: names } : candidate]
  })
  const signals = [...first.signals, ...others.flatMap((other) => other.signals)]
  if (candidates.length > 0) return { ...first, candidates, signals }
  const models = [query.model ?? '', ...additional.map(({ name }) => name)]
  const reason = fault('invalid_request', apart(models), { param: 'model' })
  return { ...first, fault: reason, candidates: [], signals, operatorNote: null }
}

function nameAt(candidates: readonly Candidate[], { id }: SnapshotProvider): string | null {
  return candidates.find(({ provider }) => provider.id === id)?.upstreamModel ?? null
}

function apart(models: readonly string[]): string {
  const shown = models.slice(0, 5).map(quote).join(', ')
  return `No one provider has all of the models that this call names (${shown}). Name models of one provider in a call.`
}

function planModel(query: PlanQuery, model: string, compiled: CompiledRoutes): Plan {
  const signals: Signal[] = []
  const found = findRoute(compiled, query, model, (route) => signals.push(route.disabled))
  if (found === null) {
    const { fault, operatorNote } = modelNotFound(query, model, compiled)
    if (operatorNote !== null) signals.push({ rule: 'route', verdict: 'note', text: operatorNote })
    return { fault, route: null, candidates: [], skipped: [], signals, operatorNote }
  }
  signals.push(found.matched)
  if (query.providerName !== null) signals.push(headerIgnored)
  const evaluated = evaluateTargets(query, found.targets, ({ upstream }) =>
    upstreamName(found.pattern, upstream, model),
  )
  if (query.embeds === true) keepVectorSpace(query, evaluated, found)
  if (evaluated.candidates.length > 1) {
    const { ordered, signal } = orderCandidates(found.route.strategy, evaluated.candidates, query)
    evaluated.candidates = lastResortsLast(ordered)
    if (signal !== null) signals.push(signal)
  }
  return conclude(query, found.route, evaluated, signals)
}

function planWithoutModel(query: PlanQuery, compiled: CompiledRoutes): Plan {
  const choice = chooseProvider(query, compiled)
  if (choice.fault !== null) {
    const { fault, signals } = choice
    return { fault, route: null, candidates: [], skipped: [], signals, operatorNote: null }
  }
  const target = { providerId: choice.provider.id, upstreamModel: null, weight: 1, priority: 0, format: null }
  const evaluated = evaluateTargets(
    query,
    [{ target, provider: choice.provider, upstream: null, watched: null }],
    () => '',
  )
  return conclude(query, null, evaluated, choice.signals)
}

function planPinned(query: PlanQuery, pin: Pin, compiled: CompiledRoutes): Plan {
  const found = findPinned(query, compiled, pin)
  const { signals } = found
  if (found.fault !== null)
    return { fault: found.fault, route: null, candidates: [], skipped: [], signals, operatorNote: null }
  return { fault: null, route: found.route, candidates: [found.candidate], skipped: [], signals }
}

/** Targets that have met a limit of their provider come last. */
function lastResortsLast(candidates: Candidate[]): Candidate[] {
  if (!candidates.some(({ lastResort }) => lastResort)) return candidates
  const left = candidates.filter(({ lastResort }) => !lastResort)
  return [...left, ...candidates.filter(({ lastResort }) => lastResort)]
}

interface Evaluated {
  candidates: Candidate[]
  skipped: Skipped[]
}

function evaluateTargets(
  query: PlanQuery,
  targets: readonly CompiledTarget[],
  nameFor: (target: CompiledTarget) => string,
): Evaluated {
  const evaluated: Evaluated = { candidates: [], skipped: [] }
  for (const target of targets) {
    const name = nameFor(target)
    if (target.target.weight === 0) {
      evaluated.skipped.push(skipUnweighted(target, name))
      continue
    }
    const evaluation = evaluateTarget(query, target, name)
    if ('taken' in evaluation) evaluated.candidates.push(evaluation.taken)
    else evaluated.skipped.push(evaluation.skipped)
  }
  return evaluated
}

function conclude(query: PlanQuery, route: SnapshotRoute | null, evaluated: Evaluated, signals: Signal[]): Plan {
  const { candidates, skipped } = evaluated
  for (const candidate of candidates) signals.push(takenSignal(candidate))
  for (const skip of skipped) signals.push(skippedSignal(skip))
  if (candidates.length > 0) return { fault: null, route, candidates, skipped, signals }
  return { fault: noneUsable(query, skipped), route, candidates: [], skipped, signals, operatorNote: null }
}

const headerIgnored: Signal = Object.freeze({
  rule: 'provider.choice',
  verdict: 'note',
  text: 'x-sp-provider was ignored: the call names a model, and its route decides.',
})

/**
 * Vectors of two models cannot be compared, so that a client's index would be spoilt in silence: where a target of a call for vectors is
 * translated, only those with the model of the route's first target are asked, in health and in sickness. Within one lane a model may
 * have several names (deployments), and the route decides.
 */
function keepVectorSpace(
  { model, lane, kinds }: TargetQuery & { model: string | null },
  evaluated: { candidates: Candidate[]; skipped: Skipped[] },
  { pattern, targets }: { pattern: Pattern; targets: readonly CompiledTarget[] },
): void {
  const first = targets.find(({ target }) => target.weight > 0)
  if (first === undefined) return
  const wanted = upstreamName(pattern, first.upstream, model ?? '')
  const isForeign = kinds.get(first.provider?.kind ?? '')?.lanes.includes(lane) !== true
  evaluated.candidates = evaluated.candidates.filter(({ provider, upstreamModel, translated }) => {
    if (baseName(upstreamModel) === baseName(wanted) || (!isForeign && translated === null)) return true
    const reason = `its vectors cannot be compared with those of ${wanted}`
    const lanes = kinds.get(provider.kind)?.lanes ?? []
    evaluated.skipped.push({ provider: provider.name, upstreamModel, reason, code: 'format', until: null, lanes })
    return false
  })
}

/** Without the vendor that some providers put before it (`google/gemini-embedding-001`). */
function baseName(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1)
}
