import { type Fault, fault } from '../core/errors.ts'
import type { Signal } from '../core/record.ts'
import { quote } from '../core/text/quote.ts'
import type { SnapshotProvider } from '../store/configuration/snapshot.ts'
import { evaluateTarget, mayUse, servesOperation, type TargetQuery } from './candidates.ts'
import type { CompiledRoutes, KeyScope } from './compile.ts'

interface ChoiceQuery extends TargetQuery, KeyScope {
  providerName: string | null
}

export type ProviderChoice =
  | { fault: null; provider: SnapshotProvider; signals: Signal[] }
  | { fault: Fault; signals: Signal[] }

/** Which provider a call without a model goes to. Source: contract.md rule 2. */
export function chooseProvider(query: ChoiceQuery, compiled: CompiledRoutes): ProviderChoice {
  const defaultId = compiled.defaultProviders[query.environmentId]?.[query.lane]
  const byDefault = defaultId === undefined ? null : (compiled.providersById.get(defaultId) ?? null)
  const pool = findPool(query, compiled)
  if (query.providerName !== null) return chooseByName(query, query.providerName, pool, byDefault)
  if (byDefault !== null) return choose(byDefault, 'is the default of the environment')
  const active = pool.filter((provider) => provider.active)
  const [only] = active
  if (only !== undefined && active.length === 1) return choose(only, `is the only active one that speaks ${query.lane}`)
  if (active.length === 0) return rejectWithNone(query, pool)
  return reject(fault('provider_unspecified', ambiguous(usable(query, active))))
}

/**
 * What the scope's routes use; only when they use none of the lane's format, all that the scope may use. An inactive
 * one keeps its place here, so that switching a provider off never sends its calls to a stranger.
 */
function findPool(query: ChoiceQuery, compiled: CompiledRoutes): SnapshotProvider[] {
  const used = [query.environmentId, query.projectId].flatMap((id) => [...(compiled.scopes.get(id)?.providers ?? [])])
  const routed = [...new Set(used)].filter((provider) => fits(query, provider))
  return routed.length > 0 ? routed : compiled.providers.filter((provider) => fits(query, provider))
}

function fits(query: ChoiceQuery, provider: SnapshotProvider): boolean {
  const kind = query.kinds.get(provider.kind)
  if (kind?.lanes.includes(query.lane) !== true) return false
  if (query.operation !== null && !servesOperation(kind, provider, query.operation)) return false
  return mayUse(query, provider)
}

function chooseByName(
  query: ChoiceQuery,
  name: string,
  pool: readonly SnapshotProvider[],
  byDefault: SnapshotProvider | null,
): ProviderChoice {
  const found = [...pool, ...(byDefault ? [byDefault] : [])].find((provider) => provider.name === name)
  if (found) return choose(found, 'was named by x-sp-provider')
  const active = usable(
    query,
    pool.filter((provider) => provider.active),
  )
  const hint = active.length === 0 ? `None speaks ${query.lane}.` : `It may name ${listNames(active)}.`
  return reject(fault('provider_unspecified', `x-sp-provider names ${quote(name)}, which this key cannot use. ${hint}`))
}

/** Those that can serve the call now; all where none can. */
function usable(query: ChoiceQuery, active: readonly SnapshotProvider[]): readonly SnapshotProvider[] {
  const target = { upstreamModel: null, weight: 1, priority: 0, format: null }
  const ready = active.filter(
    (provider) =>
      'taken' in
      evaluateTarget(
        query,
        { target: { ...target, providerId: provider.id }, provider, upstream: null, watched: null },
        '',
      ),
  )
  return ready.length === 0 ? active : ready
}

function rejectWithNone(query: ChoiceQuery, pool: readonly SnapshotProvider[]): ProviderChoice {
  const why =
    pool.length === 0 ? `No provider that speaks ${query.lane} is set up for this key` : 'No provider is active'
  return reject(fault('provider_not_ready', `${why}; ask the operator.`))
}

function ambiguous(active: readonly SnapshotProvider[]): string {
  return (
    `The call names no model, and ${listNames(active)} could serve it. Name one with the header x-sp-provider, ` +
    'or ask the operator to set a default for the environment.'
  )
}

function listNames(providers: readonly SnapshotProvider[]): string {
  const names = providers.map(({ name }) => name).sort()
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
}

function choose(provider: SnapshotProvider, why: string): ProviderChoice {
  const text = `${provider.name} ${why}.`
  const signal: Signal = { rule: 'provider.choice', verdict: 'taken', text, data: { provider: provider.name } }
  return { fault: null, provider, signals: [signal] }
}

function reject(reason: Fault): ProviderChoice {
  return { fault: reason, signals: [{ rule: 'provider.choice', verdict: 'deny', text: reason.message }] }
}
