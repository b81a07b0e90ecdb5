import type { RequestRecord } from '../../../core/record.ts'

/** Why a record has no bodies, in a sentence, and what to do about it. Told from the record alone. */
export function whyNoBodies(record: Pick<RequestRecord, 'state' | 'node' | 'key' | 'policy_signals'>): {
  reason: string
  hint: string
} {
  const said = record.policy_signals.filter(({ rule }) => rule === 'capture')
  const lost = said.find(({ data }) => data === undefined)
  const policy = said.find(({ data }) => data !== undefined)
  const attach = record.key === null ? 'workspace' : `key:${record.key.name}`
  if (lost !== undefined) return { reason: lost.text, hint: 'See spgw status for the state of the gateway.' }
  if (policy === undefined)
    return {
      reason: 'No policy captured the bodies.',
      hint: `To capture them from now on: spgw policies add NAME --capture full --attach ${attach}`,
    }
  if (policy.data?.capture === 'none')
    return { reason: policy.text, hint: `To capture them: spgw policies edit ${policy.data.policy} --capture full` }
  if (record.state === 'admitted')
    return { reason: 'The request is still in progress.', hint: 'Its bodies are available when it has finished.' }
  const kept = 'kept for as long as records.bodies_retention says, 7 days by default.'
  if (record.node !== null)
    return {
      reason: `The bodies are not on this node. Only node ${record.node}, which answered the request, ever had them.`,
      hint: `If that is another node, ask it: there they are ${kept}`,
    }
  return { reason: 'The bodies have been deleted.', hint: `They are ${kept}` }
}
