import { type Fault, fault } from '../../core/errors.ts'
import { type Member, maximumElements, type Span, scanElements, scanObject } from '../../core/json-scan.ts'
import { isFault, readModel } from '../request-body.ts'

/**
 * The one model that all requests of a batch name, and where. Routes and policies decide on a name, and a batch goes to one
 * provider: so it may not name two. Null where it names none, which is the provider's to refuse.
 */
export function readBatchModels(
  body: Buffer,
  members: readonly Member[],
): { model: string | null; spans: Span[] } | Fault {
  let model: string | null = null
  const spans: Span[] = []
  const held = findParams(body, members)
  if (isFault(held)) return held
  for (const params of held) {
    const scan = scanObject(body, ['model'], params)
    const named = scan.ok ? readModel(body, scan.members, true) : null
    if (named === null) continue
    if (isFault(named)) return named
    if (model !== null && named.model !== null && named.model !== model) return twoModels
    model ??= named.model
    spans.push(...named.spans)
  }
  return { model, spans }
}

const twoModels = fault(
  'invalid_request',
  'The requests of this batch name different models; make one batch for each model.',
  { param: 'requests' },
)

/** `requests[].params` */
function findParams(body: Buffer, members: readonly Member[]): Span[] | Fault {
  const held: Span[] = []
  for (const member of members) {
    if (member.name !== 'requests') continue
    const requests = scanElements(body, member)
    // Whatever it is, nobody has looked which models it names.
    if (requests === null) return noRequests
    for (const request of requests) {
      const scan = scanObject(body, ['params'], request)
      if (scan.ok) held.push(...scan.members)
    }
  }
  return held
}

const noRequests = fault(
  'invalid_request',
  `\`requests\` must be a list of at most ${maximumElements.toLocaleString('en')} requests.`,
  { param: 'requests' },
)
