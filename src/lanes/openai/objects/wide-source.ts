import { type Fault, fault } from '../../../core/errors.ts'
import type { Endpoint } from '../../contract.ts'
import { JsonMembers, type JsonTree, readTree, tooManyValues } from '../../json-tree.ts'

/** Sources of an eval's run that draw on all that the account has stored, whoever made it. */
const wideTypes = new Set(['stored_completions', 'responses', 'logs'])

/** The provider has no way to limit such a source to one project's answers, so it would show those of others. */
export function findWideSource({ operation }: Endpoint, body: Buffer): Fault | null {
  if (operation !== 'evals.runs.create') return null
  const tree = readTree(body)
  if (tree === null) return tooManyValues
  const waiting: JsonTree[] = [tree.root]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (Array.isArray(value)) for (const element of value) waiting.push(element)
    if (!(value instanceof JsonMembers)) continue
    for (const { name, value: member } of value.entries) {
      waiting.push(member)
      const types = name === 'source' && member instanceof JsonMembers ? member.texts('type') : []
      if (types.some((type) => wideTypes.has(type)))
        return fault(
          'invalid_request',
          'This source draws on everything that the account has stored, which other projects share; give the items in the body or in a file.',
          { param: 'data_source.source.type' },
        )
    }
  }
  return null
}
