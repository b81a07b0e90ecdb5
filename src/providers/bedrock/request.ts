import { headerValues, withoutHeaders } from '../answer-sinks.ts'
import type { CallContext, OutboundRequest } from '../contract.ts'
import { bytesOf, changeMembers } from '../wire/anthropic-hosted.ts'
import { asCount, asObject, parseJson } from '../wire/json.ts'

export interface Adapted {
  request: OutboundRequest
  /** What a good answer is made into; null: it stays. */
  rewrite: ((body: Buffer) => Buffer) | null
}

const version = '"bedrock-2023-05-31"'

/** A call of the Anthropic lane as Bedrock takes it. */
export function adaptBedrock(request: OutboundRequest, call: CallContext): Adapted {
  const betas = headerValues(request.headers, 'anthropic-beta').flatMap((value) =>
    value.split(',').map((each) => each.trim()),
  )
  const beta: Record<string, string> = betas.length === 0 ? {} : { anthropic_beta: JSON.stringify(betas) }
  const body = changeMembers(bytesOf(request.body), ['model', 'stream'], { anthropic_version: version, ...beta })
  call.note('model and stream were moved from the body into the path, and anthropic_version was put in (Bedrock).')
  if (betas.length > 0) call.note('The header anthropic-beta was moved into the body (Bedrock).')
  const [base = ''] = request.path.split(/\/v1\/messages/)
  const model = `${base}/model/${encodeURIComponent(call.model)}`
  const headers = withoutHeaders(request.headers, ['anthropic-beta', 'anthropic-version'])
  if (call.operation === 'count_tokens') {
    return {
      request: { ...request, path: `${model}/count-tokens`, headers, body: countBody(body) },
      rewrite: readCount,
    }
  }
  const path = `${model}/${call.streamed ? 'invoke-with-response-stream' : 'invoke'}`
  return { request: { ...request, path, headers, body }, rewrite: null }
}

/** CountTokens takes the body of a call as it would be sent, so with the `max_tokens` that a count has no use for. */
function countBody(body: Buffer): Buffer {
  const whole = changeMembers(body, [], { max_tokens: '1' })
  return Buffer.from(JSON.stringify({ input: { invokeModel: { body: whole.toString('base64') } } }))
}

function readCount(body: Buffer): Buffer {
  const count = asCount(asObject(parseJson(body))?.inputTokens)
  return count === null ? body : Buffer.from(JSON.stringify({ input_tokens: count }))
}
