import { type Fault, fault } from '../../core/errors.ts'
import { type Member, type Span, scanElements, scanObject } from '../../core/json-scan.ts'
import type { Match } from '../contract.ts'
import { readValue } from '../json-value.ts'
import { modelName, resourceName } from './endpoints.ts'

const foreignModel = fault(
  'invalid_request',
  'The body names another model than the path; send one request for each model.',
  { param: 'model' },
)

const holders = ['requests', 'generateContentRequest', 'generate_content_request']

/** Members of the body in which the model may be named a second time. Source: wire/lanes.md, section 3.3; both JSON spellings (3.2). */
export function modelHolders(match: Match): readonly string[] {
  return match.endpoint.path.endsWith(':batchEmbedContents') || match.endpoint.path.endsWith(':countTokens')
    ? holders
    : []
}

/**
 * Where the body repeats the model of the path. Another name is refused, as Google does for batches: only that of the
 * path was looked at by policy and routing.
 */
export function findModelSpans(body: Buffer, members: readonly Member[], model: string): Span[] | Fault {
  const asked = resourceName(model)
  const objects = members.flatMap((member) =>
    member.name === 'requests' ? (scanElements(body, member) ?? []) : [{ start: member.start, end: member.end }],
  )
  const spans: Span[] = []
  for (const object of objects) {
    const scan = scanObject(body, ['model'], object)
    if (!scan.ok) continue
    for (const member of scan.members) {
      const value = readValue(body, member)
      if (value === asked) spans.push({ start: member.start, end: member.end })
      else if (typeof value === 'string' && modelName(value) !== model) return foreignModel
    }
  }
  return spans
}
