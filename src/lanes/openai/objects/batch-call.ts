import { type Fault, fault } from '../../../core/errors.ts'
import { type Member, scanObject } from '../../../core/json/json-scan.ts'
import { readValue } from '../../../core/json/json-value.ts'
import type { Match } from '../../contract.ts'
import type { Matcher } from '../../endpoint-table.ts'
import { JsonMembers, type JsonValue, readTree, tooManyValues } from '../../json-tree.ts'
import { rejectMisspelled } from '../../request-body.ts'

/**
 * The call that a batch's `endpoint` or a line's `url` means: one of the lane that names its model in a JSON body;
 * null: there is none. One vendor writes it without the version.
 */
export function findCall(url: unknown, match: Matcher): Match | null {
  if (typeof url !== 'string') return null
  const found = match('POST', url.replace(/^\/v1(?=\/)/, ''))
  if (found === null) return null
  const { served, requestForms, model, media } = found.endpoint
  const asks = (model === 'body' || model === 'body-optional') && requestForms.includes('json') && found.object === null
  return served === 'provider' && asks && media === undefined ? found : null
}

/** A batch may only call endpoints that its client could call. `match` finds the lane's endpoints. */
export function rejectUnserved(match: Matcher): (body: Buffer, members: readonly Member[]) => Fault | null {
  return (body, members) => {
    const named = members.filter(({ name }) => name === 'endpoint')
    return named.every((member) => findCall(readValue(body, member), match) !== null) ? null : unserved
  }
}

const unserved = fault(
  'invalid_request',
  '`endpoint` is not one that this lane serves in batches; write it like /v1/responses.',
  { param: 'endpoint' },
)

/**
 * A file that is uploaded in parts cannot be read while it is forwarded, so no batch could use it. It is better to say
 * so before the parts are sent.
 */
export function rejectParts(body: Buffer): Fault | null {
  const scan = scanObject(body, ['purpose'])
  if (!scan.ok) return null
  const purposes = scan.members.map((member) => readValue(body, member))
  const forBatches = purposes.some((purpose) => typeof purpose === 'string' && purpose.startsWith('batch'))
  return forBatches ? inParts : rejectMisspelled(body, scan)
}

const inParts = fault(
  'invalid_request',
  'A batch input file is read line by line during its upload, which parts do not allow, since they may come in any order: upload it in one call, as a form to /v1/files with the purpose `batch`.',
  { param: 'purpose' },
)

/** Sources of an eval's run that read everything that the account has stored, whoever created it. */
const wideTypes = new Set(['stored_completions', 'responses', 'logs'])

/** The provider cannot limit such a source to one project's answers, so it would show those of other projects. */
export function rejectWideSource(body: Buffer): Fault | null {
  const tree = readTree(body)
  if (tree === null) return tooManyValues
  const waiting: JsonValue[] = [tree.root]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (Array.isArray(value)) for (const element of value) waiting.push(element)
    if (!(value instanceof JsonMembers)) continue
    for (const { name, value: member } of value.entries) {
      waiting.push(member)
      const types = name === 'source' && member instanceof JsonMembers ? member.texts('type') : []
      if (types.some((type) => wideTypes.has(type)))
        return fault(
          'invalid_request',
          'This source reads everything that the account has stored, including data of other projects; give the items in the body or in a file.',
          { param: 'data_source.source.type' },
        )
    }
  }
  return tree.texts.left < 0 ? tooManyValues : null
}
