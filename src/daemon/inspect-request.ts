import type { Inspected } from '../admin/handlers/context.ts'
import { type LaneName, laneNames } from '../core/lane.ts'
import { promptTokens } from '../core/prompt-tokens.ts'
import { readConversation } from '../lanes/conversation.ts'
import { lanes } from '../lanes/index.ts'
import { outputLimitName } from '../lanes/request-body.ts'

/** Reads a body as the data plane does, for each lane that it may be meant for. `model` is for lanes whose bodies name none. */
export function inspectRequest(text: string, asked: LaneName | null, model: string | null): Inspected[] {
  const body = Buffer.from(text)
  const shape = shapeOf(text)
  return laneNames.flatMap((lane) => {
    const path = (asked ?? lane) === lane ? pathOf(lane, shape, asked === lane, model) : null
    return path === null ? [] : inspect(lane, path, body, model)
  })
}

function inspect(name: LaneName, path: string, body: Buffer, model: string | null): Inspected[] {
  const match = lanes.find((lane) => lane.name === name)?.match('POST', path) ?? null
  if (match === null) return []
  const inspection = match.endpoint.inspect(match, '', body)
  if ('code' in inspection) return [{ lane: name, fault: inspection }]
  const { operation, signedReasoning, outputLimits, usesTokens } = match.endpoint
  const { streamed, outputLimit, answers } = inspection
  const { start, signature } = readConversation(body, signedReasoning ?? null)
  const conversation = { start: start?.text ?? null, signature }
  const size = { streamed, bytes: body.length, input: usesTokens ? promptTokens(body) : 0, outputLimit, answers }
  const limitedBy = outputLimits === undefined ? null : outputLimitName(body, outputLimits, outputLimits.names[0] ?? '')
  return [{ lane: name, operation, model: inspection.model ?? model, ...size, usesTokens, limitedBy, conversation }]
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
  if (lane === 'gemini')
    return 'contents' in shape || asked
      ? `/v1beta/models/${encodeURIComponent(model ?? 'model')}:generateContent`
      : null
  if (lane === 'anthropic') return 'messages' in shape || asked ? '/v1/messages' : null
  if ('contents' in shape && !asked) return null
  if ('messages' in shape) return '/chat/completions'
  const named = 'model' in shape ? String(shape.model) : (model ?? '')
  if ('prompt' in shape) return /gpt-image|dall-e/.test(named) ? '/images/generations' : '/completions'
  return 'input' in shape ? inputPath(shape, named) : '/chat/completions'
}

/** Short bodies with an input are alike: what a model is for tells them apart. */
function inputPath(shape: { input: unknown }, model: string): string {
  if ('voice' in shape) return '/audio/speech'
  if (/moderation/i.test(model)) return '/moderations'
  const isList = Array.isArray(shape.input) && typeof shape.input[0] !== 'object'
  const embeds = isList || 'encoding_format' in shape || 'dimensions' in shape || /embed/i.test(model)
  return embeds ? '/embeddings' : '/responses'
}
