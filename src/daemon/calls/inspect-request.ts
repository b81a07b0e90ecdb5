import type { Inspected, OperationFacts } from '../../admin/handlers/context.ts'
import { promptTokens } from '../../core/cost/prompt-tokens.ts'
import { type LaneName, laneNames } from '../../core/lane.ts'
import { lengthName } from '../../lanes/additional-models.ts'
import { readAskedTools } from '../../lanes/asked-tools.ts'
import type { Match } from '../../lanes/contract.ts'
import { readConversation } from '../../lanes/conversation.ts'
import { lanes } from '../../lanes/index.ts'

/** Reads a body as the data plane does, for each lane that it may be meant for. `model` is for lanes whose bodies name none. */
export function inspectRequest(text: string, asked: LaneName | null, model: string | null): Inspected[] {
  const body = Buffer.from(text)
  return laneNames.flatMap((lane) => {
    const match = (asked ?? lane) === lane ? matchBody(text, lane, asked === lane, model) : null
    return match === null ? [] : inspect(lane, match, body, model)
  })
}

/** The call that a body of that form makes; null: none, and nobody said that it makes one. */
export function matchBody(text: string, name: LaneName, asked: boolean, model: string | null): Match | null {
  const path = pathOf(name, shapeOf(text), asked, model)
  return path === null ? null : (lanes.find((lane) => lane.name === name)?.match('POST', path) ?? null)
}

/** What is known of a call by its operation alone; null: there is none of that name. */
export function describeCall(name: LaneName, operation: string): OperationFacts | null {
  const found = lanes.find((lane) => lane.name === name)?.endpoints.find((each) => each.operation === operation)
  if (found === undefined) return null
  const { usesTokens, outputLimits, counts = null } = found
  return { usesTokens, limitedBy: outputLimits?.names[0] ?? null, counts }
}

function inspect(name: LaneName, match: Match, body: Buffer, model: string | null): Inspected[] {
  const inspection = match.endpoint.inspect(match, '', body)
  if ('code' in inspection) return [{ lane: name, fault: inspection }]
  const { operation, signedReasoning, outputLimits, usesTokens, readUnits, counts = null } = match.endpoint
  const { streamed, outputLimit, answers, additionalModels, leavesChoice, endUser } = inspection
  const { start, signature } = readConversation(body, signedReasoning ?? null)
  const conversation = { start: start?.text ?? null, signature }
  const size = { streamed, bytes: body.length, input: usesTokens ? promptTokens(body) : 0, outputLimit, answers }
  const limitedBy =
    outputLimits === undefined ? null : lengthName(inspection, body, outputLimits, outputLimits.names[0] ?? '')
  const named =
    match.endpoint.model === 'path' ? (model ?? nameIn(shapeOf(body.toString()))) : (inspection.model ?? model)
  const units = readUnits?.({ body, fields: [], head: body, bytes: body.length }) ?? null
  const choice = { additionalModels, leavesChoice, units, tools: readAskedTools(body, inspection.tools) }
  const asks = { operation, counts, usesTokens, limitedBy, conversation, ...choice, user: endUser ?? '' }
  return [{ lane: name, model: named, ...size, ...asks }]
}

/** Bodies of Gemini's calls may name the model that their path names. */
function nameIn(shape: object): string | null {
  return 'model' in shape && typeof shape.model === 'string' ? shape.model.replace(/^models\//, '') : null
}

function shapeOf(text: string): object {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

/** null: the body has not the lane's form, and nobody said that it has. */
function pathOf(lane: LaneName, shape: object, asked: boolean, model: string | null): string | null {
  if (lane === 'gemini') {
    const verb = geminiVerb(shape) ?? (asked ? 'generateContent' : null)
    return verb === null ? null : `/v1beta/models/${encodeURIComponent(model ?? nameIn(shape) ?? 'model')}:${verb}`
  }
  if (lane === 'anthropic') return 'messages' in shape || asked ? '/v1/messages' : null
  if (geminiVerb(shape) !== null && !asked) return null
  if ('messages' in shape) return '/chat/completions'
  const named = 'model' in shape ? String(shape.model) : (model ?? '')
  if ('prompt' in shape) return /gpt-image|dall-e/.test(named) ? '/images/generations' : '/completions'
  return 'input' in shape ? inputPath(shape, named) : '/chat/completions'
}

function geminiVerb(shape: object): string | null {
  if ('contents' in shape) return 'generateContent'
  if ('content' in shape) return 'embedContent'
  if ('generateContentRequest' in shape) return 'countTokens'
  const [first] = 'requests' in shape && Array.isArray(shape.requests) ? shape.requests : []
  return 'content' in Object(first ?? {}) ? 'batchEmbedContents' : null
}

/** Short bodies with an input are alike: what a model is for tells them apart. */
function inputPath(shape: { input: unknown }, model: string): string {
  if ('voice' in shape) return '/audio/speech'
  if (/moderation/i.test(model)) return '/moderations'
  const isList = Array.isArray(shape.input) && typeof shape.input[0] !== 'object'
  const embeds = isList || 'encoding_format' in shape || 'dimensions' in shape || /embed/i.test(model)
  return embeds ? '/embeddings' : '/responses'
}
