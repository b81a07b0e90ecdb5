import type { MissingBodies } from '../../../core/capture.ts'
import type { RequestRecord } from '../../../core/record.ts'

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
  const kept = 'kept for as long as records.bodies_retention says, 7 days by default.'
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
