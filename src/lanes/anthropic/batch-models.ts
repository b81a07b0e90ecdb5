import { readCacheWrites } from '../../core/cost/cache-marks.ts'
import { promptBytes } from '../../core/cost/prompt-tokens.ts'
import { type Fault, fault } from '../../core/errors.ts'
import {
  type Member,
  maximumElements,
  type Span,
  scanElements,
  scanObject,
  shortValue,
} from '../../core/json/json-scan.ts'
import { asText, readValue } from '../../core/json/json-value.ts'
import { addBatchAsk, type BatchAsk, type LineAsk } from '../../core/objects/batch-input.ts'
import { groupDigits } from '../../core/units.ts'
import { additionalNames, longestOf, readAdditionalModels } from '../additional-models.ts'
import { readToolsOf } from '../asked-tools.ts'
import type { NamedModel } from '../contract.ts'
import { isFault, readModel, readOutputLimit, rejectMisspelled } from '../request-body.ts'

/** Each model is checked against policies and routes. */
const mostModels = 50

/**
 * The models that a batch's requests name, with their spans, in order. If there are none, the provider may reject the
 * batch.
 */
export function readBatchModels(body: Buffer, members: readonly Member[]): BatchModels | Fault {
  const models = new Map<string, NamedModel>()
  const asks = new Map<string, BatchAsk>()
  const held = findParams(body, members)
  if (isFault(held)) return held
  let leavesChoice = false
  for (const params of held) {
    const scan = scanObject(body, wanted, params)
    const read = scan.ok ? scan.members.filter(({ name }) => name === 'model') : []
    const named = scan.ok ? (rejectMisspelled(body, scan) ?? readModel(body, read, true)) : null
    if (named === null) continue
    if (isFault(named)) return named
    if (named.model === null) continue
    const own = { name: named.model, spans: named.spans }
    const more = readAdditionalModels(body, scan.ok ? scan.members : [], own)
    if (isFault(more)) return more
    leavesChoice ||= more.leavesChoice === true
    for (const { name, spans } of [own, ...more.models.filter((each) => each !== own)]) {
      const known = models.get(name)
      if (known !== undefined) known.spans.push(...spans)
      else models.set(name, { name, spans })
    }
    if (models.size > mostModels) return tooManyModels
    const asked = scan.ok ? readOutputLimit(body, scan.members, limits) : null
    const longest = longestOf(body, more.limits, 1)
    const output = asked === null || longest === null ? null : Math.max(asked, longest)
    const others = more.models.filter((each) => each !== own).map(({ name }) => name)
    const request = body.subarray(params.start, params.end)
    const bytes = promptBytes(request)
    addBatchAsk(asks, { model: named.model, others, bytes, output, ...readBeside(request) })
  }
  return { models: [...models.values()], asks: [...asks.values()], leavesChoice }
}

interface BatchModels {
  models: NamedModel[]
  /** What the batch's requests ask for. */
  asks: BatchAsk[]
  leavesChoice: boolean
}

/** What it may cost besides, as it asks. Only what costs more in one place than in another is told apart. */
function readBeside(request: Buffer): Pick<LineAsk, 'tools' | 'writes' | 'geo'> {
  const scan = scanObject(request, ['inference_geo'])
  const [place] = scan.ok ? scan.members : []
  const geo = place === undefined ? null : asText(readValue(request, place, shortValue))
  return { tools: readToolsOf(request), writes: readCacheWrites(request), geo: geo?.toLowerCase() ?? null }
}

const limits = { names: ['max_tokens'], choices: [], within: null }
const wanted = ['model', ...additionalNames, ...limits.names]

const tooManyModels = fault(
  'invalid_request',
  `The requests of this batch name more than ${mostModels} models; make several batches.`,
  { param: 'requests' },
)

/** `requests[].params` */
function findParams(body: Buffer, members: readonly Member[]): Span[] | Fault {
  const held: Span[] = []
  for (const member of members) {
    if (member.name !== 'requests') continue
    const requests = scanElements(body, member)
    // The models in it are unknown, so it must not be forwarded.
    if (requests === null) return noRequests
    for (const request of requests) {
      const scan = scanObject(body, ['params'], request)
      if (!scan.ok) continue
      const odd = rejectMisspelled(body, scan)
      if (odd !== null) return odd
      held.push(...scan.members)
    }
  }
  return held
}

const noRequests = fault(
  'invalid_request',
  `\`requests\` must be a list of at most ${groupDigits(maximumElements)} requests.`,
  { param: 'requests' },
)
