import { type Fault, fault } from '../core/errors.ts'
import type { ObjectPlace } from '../core/objects/stored-object.ts'
import type { Signal } from '../core/record.ts'
import type { SnapshotProvider, SnapshotRoute } from '../store/configuration/snapshot.ts'
import {
  type Candidate,
  evaluateTarget,
  type Skipped,
  skippedSignal,
  type TargetQuery,
  takenSignal,
  upstreamName,
} from './candidates.ts'
import { type CompiledRoute, type CompiledRoutes, findRoute, type KeyScope } from './compile.ts'
import { isUnhealthy } from './rejections.ts'

/** Why a call can go to one place only. */
export interface Pin extends ObjectPlace {
  /** `file file-abc`: what lives there. */
  what: string
  /** A call that counts on the one before it: it must not be sent a second time. */
  once?: boolean
  /** Nothing lives there: whoever sent it chose the provider. */
  chosen?: boolean
}

interface PinnedQuery extends TargetQuery, KeyScope {
  model: string | null
  providerName: string | null
}

export type PinnedTarget =
  | { fault: null; route: SnapshotRoute | null; candidate: Candidate; signals: Signal[] }
  | { fault: Fault; signals: Signal[] }

/**
 * Where a call goes that names an object: the provider and the credential that hold it, whatever the routes say now. Where
 * a route of the model has that provider as a target, its name for the model counts.
 */
export function findPinned(query: PinnedQuery, compiled: CompiledRoutes, pin: Pin): PinnedTarget {
  const provider = compiled.providersById.get(pin.providerId)
  if (provider === undefined) return reject(pin, [], 'its provider was removed')
  const where = `provider ${provider.name}`
  const signals: Signal[] = [pinned(pin, provider)]
  if (query.providerName !== null && query.providerName !== provider.name) signals.push(headerOverruled)
  if (!hasCredential(provider, pin)) return reject(pin, signals, `the credential of ${where} that holds it was removed`)
  const routed = query.model === null ? null : findTarget(query, query.model, compiled, pin)
  if (routed !== null) signals.push(routed.found.matched)
  const target = routed?.target ?? {
    providerId: provider.id,
    upstreamModel: null,
    weight: 1,
    priority: 0,
    format: null,
  }
  const watched = routed?.watched ?? null
  // What the call names is known to the provider by the call's own format alone; what only its sender chose can be translated.
  const evaluation = evaluateTarget(
    pin.chosen === true ? query : { ...query, format: null },
    { target, provider, upstream: null, watched },
    routed?.name ?? query.model ?? '',
  )
  if ('skipped' in evaluation) {
    signals.push(skippedSignal(evaluation.skipped))
    return reject(
      pin,
      signals,
      evaluation.skipped.exhausted ? `the account of ${where} is out of quota` : `${where} is not active and ready`,
      evaluation.skipped,
    )
  }
  const candidate: Candidate = evaluation.taken
  if (pin.credentialId !== null && provider.credentials.length > 0) candidate.credentialId = pin.credentialId
  signals.push(takenSignal(candidate))
  return { fault: null, route: routed?.found.route ?? null, candidate, signals }
}

/** A provider that took no credential when the object was made is one account still. */
function hasCredential({ credentials }: SnapshotProvider, { credentialId }: Pin): boolean {
  return credentialId === null || credentials.some(({ id }) => id === credentialId)
}

function findTarget(query: PinnedQuery, model: string, compiled: CompiledRoutes, pin: Pin) {
  const found: CompiledRoute | null = findRoute(compiled, query, model, () => {})
  const own = found?.targets.find(({ target }) => target.providerId === pin.providerId)
  if (found === null || own === undefined) return null
  return { found, target: own.target, watched: own.watched, name: upstreamName(found.pattern, own.upstream, model) }
}

function reject({ what }: Pin, signals: Signal[], why: string, skipped: Skipped | null = null): PinnedTarget {
  const message = `The ${what} cannot be reached: ${why}. Ask the operator, or try again later.`
  const text = `The ${what} cannot be reached: ${why}.`
  const own = { origin: skipped !== null && isUnhealthy(skipped) ? 'provider' : 'gateway' } as const
  return {
    fault: skipped?.exhausted ? fault('provider_quota_exhausted', message) : fault('provider_not_ready', message, own),
    signals: [...signals, { rule: 'object', verdict: 'deny', text }],
  }
}

function pinned({ what, credentialId, chosen }: Pin, { name }: SnapshotProvider): Signal {
  if (chosen)
    return {
      rule: 'provider.choice',
      verdict: 'taken',
      text: `The ${what} goes to ${name}, as it was asked to.`,
      data: { provider: name },
    }
  const text = `The ${what} is at ${name}, so the call goes there.`
  return { rule: 'object', verdict: 'taken', text, data: { provider: name, credential: credentialId } }
}

const headerOverruled: Signal = Object.freeze({
  rule: 'provider.choice',
  verdict: 'note',
  text: 'x-sp-provider was ignored: the object that the call names is at another provider.',
})
