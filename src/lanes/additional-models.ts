import { type Fault, fault } from '../core/errors.ts'
import { type Member, type Span, scanElements, scanObject, shortValue } from '../core/json/json-scan.ts'
import { asText, isCount, readValue } from '../core/json/json-value.ts'
import { groupDigits } from '../core/units.ts'
import type { Inspection, NamedModel } from './contract.ts'
import type { OutputLimits } from './output-limits.ts'
import {
  isFault,
  isLongName,
  largestOutput,
  longModel,
  outputLimitName,
  rejectMisspelled,
  tooManyToScan,
} from './request-body.ts'

/** With these a client could choose what answers, or whose account pays, at a provider that is itself a gateway (LiteLLM). */
const leadingNames = ['api_base', 'base_url', 'api_key', 'user_config', 'custom_llm_provider', 'model_list'].concat([
  'context_window_fallbacks',
  'content_policy_fallbacks',
  'context_window_fallback_dict',
  'router_settings_override',
])
/**
 * Members of a body that may name models besides `model`: those that the provider may answer with instead (OpenRouter's `models`,
 * Anthropic's and LiteLLM's `fallbacks`, Vercel's `providerOptions.gateway.models`), and those of its own tools.
 */
export const additionalNames = ['models', 'tools', 'fallbacks', 'providerOptions', ...leadingNames]

/** The same as fields of a form, where models to fall back to cannot be checked: no vendor's server reads any there. */
export const leadingFields = ['models', 'fallbacks', ...leadingNames]

/** Members of an entry of `fallbacks` that limit its answer. */
const limitNames = ['max_tokens', 'max_completion_tokens', 'max_output_tokens']

/** Each model is checked against policies and routes. */
const mostModels = 50
/** No provider accepts more, and looking at each must not take long. */
const mostEntries = 5000

export interface AdditionalModels {
  models: readonly NamedModel[]
  /** What `Inspection.leavesChoice` says. */
  leavesChoice?: true
  /** What entries of `fallbacks` say of the length of their own answers. */
  limits: readonly Span[]
}

/** What the members above name. Whoever must not use a model must not have it used by another. `own`: gets the spans that name it again. */
export function readAdditionalModels(
  body: Buffer,
  members: readonly Member[],
  own: NamedModel | null,
): AdditionalModels | Fault {
  const models = new Map<string, NamedModel>()
  const looked = new Set<string>()
  const limits: Span[] = []
  let leavesChoice = false
  for (const member of members) {
    if (leadingNames.includes(member.name) && !isNull(body, member)) return elsewhere(member.name)
    if (!mayName(body, member)) continue
    if (looked.has(member.name)) return twice(member.name)
    looked.add(member.name)
    // A word in place of a list is the provider's own choice.
    if (member.name === 'fallbacks' && body[member.start] === quote) leavesChoice = true
    const spans = namedIn(body, member, limits)
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
  return { models: [...models.values()], limits, ...(leavesChoice && { leavesChoice }) }
}

/** The same, in the inspection. `outputLimits`: of the endpoint. */
export function withAdditionalModels(
  found: Inspection,
  body: Buffer,
  members: readonly Member[],
  outputLimits: OutputLimits | undefined,
): Inspection | Fault {
  const { model, modelSpans } = found
  const additional = readAdditionalModels(body, members, model === null ? null : { name: model, spans: modelSpans })
  if (isFault(additional)) return additional
  const { models, leavesChoice, limits } = additional
  if (models.length > 0) found.additionalModels = models
  if (leavesChoice === true) found.leavesChoice = true
  if (limits.length > 0 && outputLimits !== undefined) addLimits(found, body, limits)
  return found
}

/** Whichever of the models answers, so long its answer may be. */
function addLimits(found: Inspection, body: Buffer, spans: readonly Span[]): void {
  const longest = longestOf(body, spans, found.answers)
  const { outputLimit } = found
  const decide = outputLimit !== null && (longest === null || longest > outputLimit)
  found.fallbackLimits = { spans, decide }
  if (decide) found.outputLimit = longest
}

/** The most tokens that these limits allow, each for so many answers; null: one is no count, and nobody knows what a server makes of it. */
export function longestOf(body: Buffer, limits: readonly Span[], answers: number): number | null {
  let most = 0
  for (const span of limits) {
    const value = readValue(body, span, shortValue)
    if (!isCount(value)) return null
    most = Math.max(most, value)
  }
  return Math.min(most * answers, largestOutput)
}

/** The member of the body that is to blame for the length of its answer, as its client knows it. */
export function lengthName(
  { fallbackLimits }: Pick<Inspection, 'fallbackLimits'>,
  body: Buffer,
  limits: OutputLimits,
  written: string,
): string {
  return fallbackLimits?.decide === true ? 'fallbacks.max_tokens' : outputLimitName(body, limits, written)
}

const tooManyModels = fault('invalid_request', `The body names more than ${mostModels} models; name fewer.`, {
  param: 'models',
})

const tooManyEntries = (param: string) =>
  fault('invalid_request', `\`${param}\` has more than ${groupDigits(mostEntries)} entries; send fewer.`, { param })

const twice = (param: string) => fault('invalid_request', `\`${param}\` is given twice; send it once.`, { param })

export const elsewhere = (param: string) =>
  fault('invalid_request', `\`${param}\` would lead this call elsewhere than its route does. Leave it out.`, { param })

const unnamed = fault(
  'invalid_request',
  'An entry of `fallbacks` names no model: give each as a name, or as an object with `model`.',
  { param: 'fallbacks' },
)

const quote = 0x22
const firstOfNull = 0x6e
const openBracket = 0x5b
const modelName = Buffer.from('"model"')
const gatewayName = Buffer.from('"gateway"')
const unicodeEscape = Buffer.from('\\u')

function isNull(body: Buffer, { start, end }: Span): boolean {
  return end - start === 4 && body[start] === firstOfNull
}

/** Hardly any tool names a model. */
function mayName(body: Buffer, { name, start, end }: Member): boolean {
  if (name === 'models' || name === 'fallbacks') return true
  if (name !== 'tools' && name !== 'providerOptions') return false
  const bytes = body.subarray(start, end)
  return bytes.includes(name === 'tools' ? modelName : gatewayName) || bytes.includes(unicodeEscape)
}

/** Adds to `limits` what entries of `fallbacks` say of their length. */
function namedIn(body: Buffer, member: Member, limits: Span[]): readonly Span[] | Fault {
  if (member.name === 'providerOptions') return namedByOptions(body, member)
  const areModels = member.name === 'fallbacks'
  if (areModels && body[member.start] !== openBracket)
    return body[member.start] === quote || isNull(body, member) ? [] : unnamed
  const elements = elementsOf(body, member)
  if (elements === null) return tooManyEntries(member.name)
  return member.name === 'models' ? elements : namedByObjects(body, elements, areModels ? limits : null)
}

/** `providerOptions.gateway`: the models, and whose credentials pay (`byok`). */
function namedByOptions(body: Buffer, options: Span): readonly Span[] | Fault {
  const named: Span[] = []
  for (const gateway of membersOf(body, options, ['gateway'])) {
    if ('code' in gateway) return gateway
    for (const member of membersOf(body, gateway, ['models', 'byok'])) {
      if ('code' in member) return member
      if (member.name === 'byok' && !isNull(body, member)) return elsewhere('providerOptions.gateway.byok')
      const models = member.name === 'models' ? elementsOf(body, member) : []
      if (models === null) return tooManyEntries('providerOptions.gateway.models')
      named.push(...models)
    }
  }
  return named
}

/** A single value stands for a list of one; null: there are too many. */
function elementsOf(body: Buffer, member: Span): readonly Span[] | null {
  const elements = body[member.start] === openBracket ? scanElements(body, member) : [member]
  return elements === null || elements.length > mostEntries ? null : elements
}

function membersOf(body: Buffer, object: Span, wanted: readonly string[]): readonly (Member | Fault)[] {
  const scan = scanObject(body, wanted, object)
  if (!scan.ok) return scan.tooMany ? [tooManyToScan] : []
  const odd = rejectMisspelled(body, scan)
  return odd === null ? scan.members : [odd]
}

const ofEntries = ['model', ...limitNames, ...leadingNames]
const ofTools = ['model']

/** `limits`: each is a model by its name, or has one. */
function namedByObjects(body: Buffer, objects: readonly Span[], limits: Span[] | null): readonly Span[] | Fault {
  const spans: Span[] = []
  for (const object of objects) {
    const scan = scanObject(body, limits === null ? ofTools : ofEntries, object)
    if (!scan.ok) {
      if (scan.tooMany) return tooManyToScan
      if (limits !== null && body[object.start] !== quote) return unnamed
      if (limits !== null) spans.push(object)
      continue
    }
    const odd = rejectMisspelled(body, scan)
    if (odd !== null) return odd
    const models = scan.members.filter(({ name }) => name === 'model')
    if (limits !== null && !models.some(({ start }) => body[start] === quote)) return unnamed
    spans.push(...models)
    for (const member of limits === null ? [] : scan.members) {
      if (member.name === 'model' || isNull(body, member)) continue
      if (!limitNames.includes(member.name)) return elsewhere(member.name)
      limits?.push(member)
    }
  }
  return spans
}
