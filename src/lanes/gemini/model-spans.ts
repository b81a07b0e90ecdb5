import { type Member, type Span, scanElements, scanObject } from '../../core/json-scan.ts'
import type { Match } from '../contract.ts'
import { readValue } from '../json-value.ts'
import { resourceName } from './endpoints.ts'

const holders = ['requests', 'generateContentRequest', 'generate_content_request']

/** Members of the body in which the model may be named a second time. Source: wire/lanes.md, section 3.3; both JSON spellings (3.2). */
export function modelHolders(match: Match): readonly string[] {
  return match.endpoint.path.endsWith(':batchEmbedContents') || match.endpoint.path.endsWith(':countTokens')
    ? holders
    : []
}

/** Where the body repeats the model of the path; other names there are the client's own business and stay. */
export function findModelSpans(body: Buffer, members: readonly Member[], model: string): Span[] {
  const asked = resourceName(model)
  const objects = members.flatMap((member) =>
    member.name === 'requests' ? (scanElements(body, member) ?? []) : [{ start: member.start, end: member.end }],
  )
  const spans: Span[] = []
  for (const object of objects) {
    const scan = scanObject(body, ['model'], object)
    if (!scan.ok) continue
    for (const member of scan.members) {
      if (readValue(body, member) === asked) spans.push({ start: member.start, end: member.end })
    }
  }
  return spans
}
