import type { LaneName } from '../../src/core/lane.ts'
import { laneCall } from '../../test/support/lane-calls.ts'
import type { Random } from './random.ts'

export type CallKind = 'whole' | 'stream' | 'large' | 'shaky' | 'abort' | 'bad-key' | 'unknown-model' | 'flood'

const weights: Record<CallKind, number> = {
  whole: 30,
  stream: 30,
  large: 5,
  shaky: 10,
  abort: 12,
  'bad-key': 6,
  'unknown-model': 7,
  // Only where it is asked for: more refusals a second than have records of their own.
  flood: 0,
}

/** One request of a client, what became of it as the client saw it, and what must therefore stand in the records. */
export interface Call {
  mark: string
  lane: LaneName
  kind: CallKind
  path: string
  headers: [string, string][]
  body: string
  bodyBytes: number
  /** Tokens of answer that the body allows; null: it names no limit. */
  outputLimit: number | null
  /** What says that a stream is over, on this lane; null for whole answers. */
  endMark: string | null
  /** As soon as the head came. */
  id: string | null
  status: number | null
  /** The last byte or the terminal event arrived. */
  complete: boolean
  hungUp: boolean
  /** The provider keeps the answer, so that the gateway must know whose it is. */
  stores: boolean
  /** Base URL of the gateway it goes to; absent: it does not matter. */
  to?: string
}

export interface Stage {
  keyName: string
  key: string
  models: Record<LaneName, string>
  shakyModel: string
}

export function makeCall(mark: string, stage: Stage, random: Random, only?: CallKind): Call {
  const kind = only ?? random.weighted(weights)
  const lane = kind === 'shaky' ? 'openai' : random.pick(['openai', 'anthropic', 'gemini'] as const)
  const form = laneCall(lane)
  const model = kind === 'shaky' ? stage.shakyModel : kind === 'unknown-model' ? 'nobody' : stage.models[lane]
  const streamed = kind === 'stream' || ((kind === 'abort' || kind === 'shaky') && random.chance(0.6))
  const prompt = kind === 'large' ? `${mark} ${'x'.repeat(random.between(200_000, 1_000_000))}` : `${mark} hello`
  const limit = random.chance(0.5) ? random.between(1, 5000) : null
  const stores = lane === 'openai' && random.chance(0.5)
  const more = { ...limitOf(lane, limit), ...(stores ? { store: true } : {}) }
  const { path, body } = form.call(model, { stream: streamed, prompt, more })
  const key = kind === 'bad-key' || kind === 'flood' ? 'sp_live_mistyped' : stage.key
  return {
    mark,
    lane,
    kind,
    path,
    headers: [form.credential(key), ['content-type', 'application/json'], ['x-sp-tag', `mark=${mark}`]],
    body,
    bodyBytes: Buffer.byteLength(body),
    // Anthropic's own form has one always.
    outputLimit: limit ?? (lane === 'anthropic' ? 64 : null),
    endMark: streamed ? form.endMark : null,
    id: null,
    status: null,
    complete: false,
    hungUp: false,
    stores,
  }
}

function limitOf(lane: LaneName, limit: number | null): Record<string, unknown> {
  if (limit === null) return {}
  if (lane === 'gemini') return { generationConfig: { maxOutputTokens: limit } }
  return lane === 'anthropic' ? { max_tokens: limit } : { max_completion_tokens: limit }
}
