import { type Fault, fault } from '../../core/errors.ts'
import { type Member, maximumElements, type Span, scanElements, scanObject } from '../../core/json/json-scan.ts'
import { readValue } from '../../core/json/json-value.ts'
import { groupDigits } from '../../core/units.ts'
import { isLongName, rejectMisspelled } from '../request-body.ts'
import { modelName } from './names.ts'

const foreignModel = fault(
  'invalid_request',
  'The body names another model than the path; send one request for each model.',
  { param: 'model' },
)

type PathStep = readonly string[]

/**
 * The members that lead to objects in which a body repeats the model of its path; arrays on the way are not counted.
 */
export type ModelWays = readonly (readonly PathStep[])[]

/** Both JSON spellings (wire/lanes.md, section 3.2). */
const asked = [['requests'], ['generateContentRequest', 'generate_content_request']]
const batched = [['inputConfig', 'input_config'], ['requests'], ['requests'], ['request']]

/** Source: wire/lanes.md, section 3.3. */
export const waysInCalls: ModelWays = asked.map((step) => [step])
export const waysInBatches: ModelWays = [[['batch']], [['batch'], ...batched]]

/** The top-level members that may be the model again, or contain it. */
export function modelHolders(ways: ModelWays): readonly string[] {
  return ['model', ...ways.flatMap(([first]) => first ?? [])]
}

/**
 * The spans where the body repeats the model of the path. Another model is rejected, as Google does for batches:
 * policies and routing have only checked the one in the path, and where Google's transcoder finds a member that the path
 * has bound, too, the body's counts.
 */
export function findModelSpans(
  ways: ModelWays,
  model: string,
  body: Buffer,
  members: readonly Member[],
): Span[] | Fault {
  const seen: SpanSearch = { wrong: null }
  const objects = ways.flatMap(([first = [], ...rest]) =>
    descend(body, members.filter(({ name }) => first.includes(name)).flatMap(asObjects(body, seen)), rest, seen),
  )
  if (seen.wrong !== null) return seen.wrong
  const named = members.filter(({ name }) => name === 'model')
  for (const object of objects) {
    const scan = scanObject(body, ['model'], object)
    if (!scan.ok) continue
    const odd = rejectMisspelled(body, scan)
    if (odd !== null) return odd
    named.push(...scan.members)
  }
  const spans: Span[] = []
  for (const member of named) {
    if (isLongName(member)) return foreignModel
    const value = readValue(body, member)
    if (typeof value !== 'string') continue
    if (modelName(value) !== model) return foreignModel
    spans.push({ start: member.start, end: member.end })
  }
  return spans
}

const tooManyRequests = fault(
  'invalid_request',
  `The body holds more than ${groupDigits(maximumElements)} requests; send fewer at a time.`,
)

/** The reason why some part was not checked: a list with too many elements, or a member in another letter case. */
interface SpanSearch {
  wrong: Fault | null
}

function descend(body: Buffer, objects: readonly Span[], way: readonly PathStep[], seen: SpanSearch): readonly Span[] {
  const [step, ...rest] = way
  if (step === undefined) return objects
  const inside = objects.flatMap((object) => {
    const scan = scanObject(body, step, object)
    if (!scan.ok) return []
    seen.wrong ??= rejectMisspelled(body, scan)
    return scan.members.flatMap(asObjects(body, seen))
  })
  return descend(body, inside, rest, seen)
}

const openBracket = 0x5b

/** An array's elements, or the one value. */
function asObjects(body: Buffer, seen: SpanSearch): (span: Span) => readonly Span[] {
  return (span) => {
    const elements = scanElements(body, span)
    if (elements === null && body[span.start] === openBracket) seen.wrong ??= tooManyRequests
    return elements ?? [{ start: span.start, end: span.end }]
  }
}
