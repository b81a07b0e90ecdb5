import { promptBytes } from '../../core/cost/prompt-tokens.ts'
import { type Span, scanElements, scanObject } from '../../core/json/json-scan.ts'
import { addBatchAsk, type BatchAsk } from '../../core/objects/batch-input.ts'
import { readToolsOf } from '../asked-tools.ts'
import type { Endpoint } from '../contract.ts'
import { readOutputLimit } from '../request-body.ts'
import { generateLimits } from './inspection.ts'

type ReadAsks = NonNullable<Endpoint['batchAsks']>

/** `batch.inputConfig.requests.requests[].request`. Source: wire/lanes.md, section 3.3. */
const way = [['batch'], ['inputConfig', 'input_config'], ['requests'], ['requests']]

/** The model is in the path: a request may only repeat it. */
export const askedByBatch: ReadAsks = (_inspection, body, inputs) => {
  const asks = new Map<string, BatchAsk>()
  for (const item of requestsIn(body)) {
    const holder = scanObject(body, ['request'], item)
    for (const request of holder.ok ? holder.members : []) {
      const scan = scanObject(body, generateLimits.within, request)
      const output = scan.ok ? readOutputLimit(body, scan.members, generateLimits) : null
      const bytes = body.subarray(request.start, request.end)
      addBatchAsk(asks, { model: null, bytes: promptBytes(bytes), output, tools: readToolsOf(bytes) })
    }
  }
  return [...asks.values(), ...inputs]
}

/** Embeddings have no output tokens. */
export const askedByEmbeddings: ReadAsks = (...asked) =>
  askedByBatch(...asked).map((ask) => ({ ...ask, output: 0, unlimited: 0 }))

function requestsIn(body: Buffer): readonly Span[] {
  let spans: readonly Span[] = [{ start: 0, end: body.length }]
  for (const names of way)
    spans = spans.flatMap((span) => {
      const scan = scanObject(body, names, span)
      return scan.ok ? scan.members : []
    })
  return spans.flatMap((span) => scanElements(body, span) ?? [])
}
