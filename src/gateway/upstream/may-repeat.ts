import { usesHostedTools } from '../../lanes/hosted-tools.ts'
import type { Call } from '../request/call.ts'

/**
 * Whether the call may be sent twice on the gateway's own decision: it asks a model for an answer that is stored nowhere, and uses no tool
 * run by the provider, which could act or cost a second time.
 */
export function mayRepeat(call: Call): boolean {
  const { match, inspection, body, pin, clientSecret, createsObjects } = call
  const { endpoint } = match
  if (pin !== null || clientSecret !== null || createsObjects || body.upload !== null) return false
  if (endpoint.socket !== null || !endpoint.usesTokens || endpoint.outputLimits === undefined) return false
  if (inspection.model === null || inspection.additionalModels !== undefined || inspection.leavesChoice) return false
  return !usesHostedTools(call.lane.name, body.bytes)
}
