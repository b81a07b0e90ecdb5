import { type FormatName, laneOfFormat } from '../../core/format.ts'
import type { Inspection, Lane, Match } from '../../lanes/contract.ts'
import { lanes } from '../../lanes/index.ts'
import { emptyInspection } from '../../lanes/request-body.ts'

/** The call by which models are asked in a format, as the lane of the format has it. */
export interface UpstreamShape {
  lane: Lane
  match: Match
}

export type CallForm = 'whole' | 'streamed' | 'count' | 'vectors'

const paths: Readonly<Record<FormatName, Partial<Record<CallForm, string>>>> = {
  chat: { whole: '/chat/completions', streamed: '/chat/completions', vectors: '/embeddings' },
  responses: { whole: '/responses', streamed: '/responses', count: '/responses/input_tokens' },
  messages: { whole: '/v1/messages', streamed: '/v1/messages', count: '/v1/messages/count_tokens' },
  generate: {
    whole: '/v1beta/models/any:generateContent',
    streamed: '/v1beta/models/any:streamGenerateContent',
    count: '/v1beta/models/any:countTokens',
    vectors: '/v1beta/models/any:batchEmbedContents',
  },
}

const known = new Map<string, UpstreamShape>()

export function findUpstreamShape(format: FormatName, form: CallForm): UpstreamShape {
  const path = paths[format][form] ?? ''
  const found = known.get(path)
  if (found !== undefined) return found
  const name = laneOfFormat(format)
  const lane = lanes.find((each) => each.name === name)
  const match = lane?.match('POST', path) ?? null
  if (lane === undefined || match === null) throw new Error(`no lane has ${path}`)
  const shape = { lane, match }
  known.set(path, shape)
  return shape
}

/** As the request that is sent would be inspected. Streams are always events: nothing else is read while it arrives. */
export function inspectUpstream(format: FormatName, model: string, client: Inspection): Inspection {
  const { streamed, endUser, outputLimit } = client
  return {
    ...emptyInspection(model, streamed && format === 'generate' ? '?alt=sse' : ''),
    streamed,
    framing: streamed ? 'sse' : null,
    endUser,
    outputLimit,
    mayRefer: false,
  }
}
