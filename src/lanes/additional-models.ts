import { type Fault, fault } from '../core/errors.ts'
import { type Member, type Span, scanElements, scanObject } from '../core/json-scan.ts'
import { asText, readValue } from '../core/json-value.ts'
import { groupDigits } from '../core/units.ts'
import type { Inspection, NamedModel } from './contract.ts'
import { isFault, isLongName, longModel, rejectMisspelled, tooManyToScan } from './request-body.ts'

/** Members of a body that may name models besides `model`: those that the provider may answer with instead (OpenRouter), and those of its own tools. */
export const additionalNames = ['models', 'tools']

/** Routes and policies are asked for each. */
const mostModels = 50
/** Nobody takes so many; to look at each of them must not take long. */
const mostEntries = 5000

/** What the members above name. Whoever must not use a model must not have it used by another. `own`: gets the spans that name it again. */
export function readAdditionalModels(
  body: Buffer,
  members: readonly Member[],
  own: NamedModel | null,
): readonly NamedModel[] | Fault {
  const models = new Map<string, NamedModel>()
  const looked = new Set<string>()
  for (const member of members) {
    if (!mayName(body, member)) continue
    if (looked.has(member.name)) return twice(member.name)
    looked.add(member.name)
    const spans = namedIn(body, member)
    if (isFault(spans)) return spans
    for (const span of spans) {
      if (body[span.start] !== quote) continue
      if (isLongName(span)) return longModel
      const name = asText(readValue(body, span))
      if (name === null) continue
      const model = name === own?.name ? own : models.getOrInsertComputed(name, () => ({ name, spans: [] }))
      model.spans.push(span)
      if (member.name === 'models') model.mayAnswer = true
      if (models.size > mostModels) return tooManyModels
    }
  }
  return [...models.values()]
}

/** The same, in the inspection. */
export function withAdditionalModels(found: Inspection, body: Buffer, members: readonly Member[]): Inspection | Fault {
  const { model, modelSpans } = found
  const additional = readAdditionalModels(body, members, model === null ? null : { name: model, spans: modelSpans })
  if (isFault(additional)) return additional
  if (additional.length > 0) found.additionalModels = additional
  return found
}

const tooManyModels = fault('invalid_request', `The body names more than ${mostModels} models; name fewer.`, {
  param: 'models',
})

const tooManyEntries = (param: string) =>
  fault('invalid_request', `\`${param}\` has more than ${groupDigits(mostEntries)} entries; send fewer.`, { param })

const twice = (param: string) => fault('invalid_request', `\`${param}\` is given twice; send it once.`, { param })

const quote = 0x22
const openBracket = 0x5b
const modelName = Buffer.from('"model"')
const unicodeEscape = Buffer.from('\\u')

/** Hardly any tool does. */
function mayName(body: Buffer, { name, start, end }: Member): boolean {
  if (name !== 'tools') return name === 'models'
  const bytes = body.subarray(start, end)
  return bytes.includes(modelName) || bytes.includes(unicodeEscape)
}

function namedIn(body: Buffer, member: Member): readonly Span[] | Fault {
  const elements = body[member.start] === openBracket ? scanElements(body, member) : [member]
  if (elements === null || elements.length > mostEntries) return tooManyEntries(member.name)
  return member.name === 'models' ? elements : namedByTools(body, elements)
}

function namedByTools(body: Buffer, tools: readonly Span[]): readonly Span[] | Fault {
  const spans: Span[] = []
  for (const tool of tools) {
    const scan = scanObject(body, ['model'], tool)
    if (!scan.ok) {
      if (scan.tooMany) return tooManyToScan
      continue
    }
    const odd = rejectMisspelled(body, scan)
    if (odd !== null) return odd
    spans.push(...scan.members)
  }
  return spans
}
