import { type Fault, fault } from '../core/errors.ts'
import { type Member, type Span, scanElements, scanObject } from '../core/json-scan.ts'
import { asText, readValue } from '../core/json-value.ts'
import { groupDigits } from '../core/units.ts'
import type { Inspection, NamedModel } from './contract.ts'
import { isFault, isLongName, longModel, rejectMisspelled, tooManyToScan } from './request-body.ts'

/** By these a client would choose what answers, or whose account pays, at a provider that is a gateway itself (LiteLLM). */
const leadingNames = ['api_base', 'base_url', 'api_key', 'user_config', 'custom_llm_provider', 'model_list'].concat([
  'context_window_fallbacks',
  'content_policy_fallbacks',
  'context_window_fallback_dict',
  'router_settings_override',
])
/**
 * Members of a body that may name models besides `model`: those that the provider may answer with instead (OpenRouter's `models`,
 * Anthropic's and LiteLLM's `fallbacks`), and those of its own tools.
 */
export const additionalNames = ['models', 'tools', 'fallbacks', ...leadingNames]

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
    if (leadingNames.includes(member.name) && !isNull(body, member)) return elsewhere(member.name)
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
      if (member.name !== 'tools') model.mayAnswer = true
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

const elsewhere = (param: string) =>
  fault('invalid_request', `\`${param}\` would lead this call elsewhere than its route does. Leave it out.`, { param })

const unnamed = fault(
  'invalid_request',
  'An entry of `fallbacks` names no model: give each as a name, or as an object with `model`.',
  { param: 'fallbacks' },
)

const uncounted = fault(
  'invalid_request',
  'Limits count `max_tokens` of the request alone: leave it out of `fallbacks`.',
  { param: 'fallbacks' },
)

const quote = 0x22
const firstOfNull = 0x6e
const openBracket = 0x5b
const modelName = Buffer.from('"model"')
const unicodeEscape = Buffer.from('\\u')

function isNull(body: Buffer, { start, end }: Span): boolean {
  return end - start === 4 && body[start] === firstOfNull
}

/** Hardly any tool does. */
function mayName(body: Buffer, { name, start, end }: Member): boolean {
  if (name !== 'tools') return name === 'models' || name === 'fallbacks'
  const bytes = body.subarray(start, end)
  return bytes.includes(modelName) || bytes.includes(unicodeEscape)
}

function namedIn(body: Buffer, member: Member): readonly Span[] | Fault {
  if (member.name === 'fallbacks' && body[member.start] !== openBracket) {
    // A word in place of a list is the provider's own choice.
    return body[member.start] === quote || isNull(body, member) ? [] : unnamed
  }
  const elements = body[member.start] === openBracket ? scanElements(body, member) : [member]
  if (elements === null || elements.length > mostEntries) return tooManyEntries(member.name)
  return member.name === 'models' ? elements : namedByObjects(body, elements, member.name === 'fallbacks')
}

/** `areModels`: each is one by its name, or has one. */
function namedByObjects(body: Buffer, objects: readonly Span[], areModels: boolean): readonly Span[] | Fault {
  const spans: Span[] = []
  for (const object of objects) {
    const scan = scanObject(body, areModels ? ['model', 'max_tokens', ...leadingNames] : ['model'], object)
    if (!scan.ok) {
      if (scan.tooMany) return tooManyToScan
      if (areModels && body[object.start] !== quote) return unnamed
      if (areModels) spans.push(object)
      continue
    }
    const odd = rejectMisspelled(body, scan)
    if (odd !== null) return odd
    const leading = scan.members.find((one) => one.name !== 'model' && !isNull(body, one))
    if (leading !== undefined) return leading.name === 'max_tokens' ? uncounted : elsewhere(leading.name)
    const models = scan.members.filter(({ name }) => name === 'model')
    if (areModels && !models.some(({ start }) => body[start] === quote)) return unnamed
    spans.push(...models)
  }
  return spans
}
