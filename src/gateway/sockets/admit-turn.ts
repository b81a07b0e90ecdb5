import type { Fault } from '../../core/errors.ts'
import { checkSource } from '../../policy/admit.ts'
import type { Call } from '../request/call.ts'
import { takeTurn } from '../request/take-limits.ts'
import { type EarlierTurns, holdTurn } from './hold-turn.ts'
import type { OpenedProvider } from './open-provider.ts'

/**
 * Admits a turn of a connection like a request: hours, limits and budgets of the key as they are now. `bytes`: of the frame that asks for
 * it; null: it was counted before. Returns the output tokens that are held for it.
 */
export function admitTurn(
  call: Call,
  { provider }: OpenedProvider,
  earlier: EarlierTurns,
  bytes: number | null,
): Fault | number {
  const refused = checkHours(call) ?? (bytes === null ? null : takeTurn(call.arrival, bytes))
  return refused ?? holdTurn(call, earlier, bytes ?? 0, { id: provider.row.id })
}

function checkHours({ gateway, policy, arrival, trace }: Call): Fault | null {
  if (policy.source === null) return null
  const { timeZone } = gateway.model.configuration
  const facts = { address: arrival.clientAddress, now: Date.now(), timeZone }
  const { fault, signals } = checkSource(policy.source, facts)
  // Only denials are recorded: everything that passed is already on the record of the handshake.
  const denied = signals.filter(({ verdict }) => verdict === 'deny')
  for (const signal of denied)
    if (!trace.policySignals.some(({ text }) => text === signal.text)) trace.policySignals.push(signal)
  return fault
}
