import { fault } from '../core/errors.ts'
import type { Gateway } from './gateway.ts'

/** Ends all that is under way for a revoked key: what has begun in the lane's error event, the rest as a refusal. */
export function closeStreams(gateway: Gateway, keyId: string): void {
  const reason = fault('invalid_key', 'This gateway key was revoked while its request was under way.')
  for (const exchange of gateway.exchanges.all()) {
    if (exchange.key?.id !== keyId || exchange.settled) continue
    exchange.policySignals.push({ rule: 'key', verdict: 'deny', text: reason.message })
    exchange.stop(reason)
  }
}
