import type { MissingBodies } from '../../../core/capture.ts'
import type { RequestRecord } from '../../../core/record.ts'
import { formatDuration } from '../../../core/units.ts'

/** Whether the bodies of a request that has ended were captured. They may have been deleted since. */
export function wereCaptured({ state, policy_signals }: Pick<RequestRecord, 'state' | 'policy_signals'>): boolean {
  const said = policy_signals.filter(({ rule }) => rule === 'capture')
  const kept = said.some(({ data }) => data !== undefined && data.capture !== 'none')
  return kept && state !== 'admitted' && said.every(({ data }) => data !== undefined)
}

/** What the policies said when they were captured; null: nothing, and the settings alone count. */
function policyRetention({ policy_signals }: Pick<RequestRecord, 'policy_signals'>) {
  const data = policy_signals.find(({ rule }) => rule === 'bodies_retention')?.data
  const ms = data?.bodies_retention_ms
  return typeof ms === 'number' ? { ms, policy: String(data?.policy) } : null
}

/** RFC 3339: when the bodies are deleted at the latest; null: there are none, or not any more. `settingsMs`: `records.bodies_retention`. */
export function bodiesUntil(
  record: Pick<RequestRecord, 'time' | 'state' | 'policy_signals'>,
  settingsMs: number,
  now: number,
): string | null {
  if (!wereCaptured(record)) return null
  const until = Date.parse(record.time) + Math.min(settingsMs, policyRetention(record)?.ms ?? settingsMs)
  return until > now ? new Date(until).toISOString() : null
}

/** Why a record has no bodies, in a sentence, and what to do about it. `missing`: as reading them said. */
export function whyNoBodies(
  record: Pick<RequestRecord, 'state' | 'node' | 'key' | 'project' | 'environment' | 'policy_signals'>,
  missing: MissingBodies | null,
): { reason: string; hint: string } {
  const said = record.policy_signals.filter(({ rule }) => rule === 'capture')
  const lost = said.find(({ data }) => data === undefined)
  const policy = said.find(({ data }) => data !== undefined)
  if (lost !== undefined) return { reason: lost.text, hint: 'See spgw status for the state of the gateway.' }
  if (policy === undefined)
    return {
      reason: 'No policy captured the bodies.',
      hint: `To capture them from now on: spgw policies add NAME --capture full --attach ${keyPlace(record)}`,
    }
  if (policy.data?.capture === 'none')
    return { reason: policy.text, hint: `To capture them: spgw policies edit ${policy.data.policy} --capture full` }
  if (record.state === 'admitted')
    return { reason: 'The request is still in progress.', hint: 'Its bodies are available when it has finished.' }
  const own = policyRetention(record)
  const settings = 'as long as records.bodies_retention says, 7 days by default'
  const kept = `kept for ${own === null ? settings : `${formatDuration(own.ms)} at most, as the policy ${own.policy} said`}.`
  const node = `node ${record.node}, which answered the request`
  if (missing === 'unshipped')
    return {
      reason: `The bodies are not in PostgreSQL yet. Only ${node}, may have them.`,
      hint: `Ask that node, or try again later. They are ${kept}`,
    }
  if (missing === 'unreachable')
    return {
      reason: 'The bodies are not on this node, and PostgreSQL cannot be reached.',
      hint: `Until it can be reached, ask ${node}: there they are ${kept}`,
    }
  return { reason: 'The bodies have been deleted.', hint: `They are ${kept}` }
}

/** Where a policy for the record's key is attached, whatever project a command is in. */
export function keyPlace({
  key,
  project,
  environment,
}: Pick<RequestRecord, 'key' | 'project' | 'environment'>): string {
  if (key === null) return 'workspace'
  return project === null || environment === null ? `key:${key.name}` : `key:${project}/${environment}/${key.name}`
}
