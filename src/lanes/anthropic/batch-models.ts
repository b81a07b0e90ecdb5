import { type Fault, fault } from '../../core/errors.ts'
import { type Member, type Span, scanElements, scanObject } from '../../core/json-scan.ts'
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
  for (const params of findParams(body, members)) {
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
function findParams(body: Buffer, members: readonly Member[]): Span[] {
  const requests = members.filter(({ name }) => name === 'requests')
  return requests
    .flatMap((member) => scanElements(body, member) ?? [])
    .flatMap((request) => {
      const scan = scanObject(body, ['params'], request)
      return scan.ok ? scan.members : []
    })
}
