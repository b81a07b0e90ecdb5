import { type FormatName, laneOfFormat } from '../../core/format.ts'
import type { Endpoint, Inspection, Lane, Match } from '../../lanes/contract.ts'
import { lanes } from '../../lanes/index.ts'
import { emptyInspection } from '../../lanes/request-body.ts'

/** The call by which models are asked in a format, as its lane defines it. */
export interface UpstreamShape {
  lane: Lane
  match: Match
}

export type CallForm = 'whole' | 'streamed' | 'count' | 'vectors'

const known = new Map<string, UpstreamShape>()

export function findUpstreamShape(format: FormatName, form: CallForm): UpstreamShape {
  const name = `${format} ${form}`
  const shape = known.get(name) ?? makeShape(format, form)
  known.set(name, shape)
  return shape
}

/** Finds the lane's row that states this format, or counts tokens of it. */
function makeShape(format: FormatName, form: CallForm): UpstreamShape {
  const lane = lanes.find(({ name }) => name === laneOfFormat(format))
  const endpoint = lane && findEndpoint(lane.endpoints, format, form)
  const path = endpoint?.path.replace('{version}', 'v1beta').replace('{model}', 'models/any')
  const match = path === undefined ? null : (lane?.match('POST', path) ?? null)
  if (lane === undefined || match === null) throw new Error(`no lane has ${form} calls of ${format}`)
  return { lane, match }
}

function findEndpoint(rows: readonly Endpoint[], format: FormatName, form: CallForm): Endpoint | undefined {
  if (form === 'count') return rows.find(({ counts }) => counts === format)
  // If there is a call for one text and one for many, the latter.
  if (form === 'vectors') return rows.findLast(({ embeds }) => embeds)
  const asked = rows.filter((row) => row.format === format)
  return asked.find(({ stream }) => (stream !== null) === (form === 'streamed')) ?? asked[0]
}

/** The inspection that the translated request would have. Streams are always events: nothing else is read as it arrives. */
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
