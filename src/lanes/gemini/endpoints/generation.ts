import type { Endpoint, ObjectUse } from '../../contract.ts'
import { json, makes, row } from '../../endpoint-row.ts'

/** What answers from a model; long-running ones answer with the name of an operation. Source: wire/lanes.md, section 3.3. */
export const generation: readonly Endpoint[] = [
  call('generate', 'generateContent'),
  // Without `alt=sse` the answer is a JSON array.
  call('generate', 'streamGenerateContent', { stream: 'json-array' }),
  call('count_tokens', 'countTokens'),
  call('embed', 'embedContent'),
  call('embed', 'batchEmbedContents'),
  call('predict', 'predict'),
  call('predict.start', 'predictLongRunning', { object: makes('operation') }),
  call('batches.create', 'batchGenerateContent', { object: makes('batch') }),
  call('batches.create', 'asyncBatchEmbedContent', { object: makes('batch') }),
]

function call(
  operation: string,
  verb: string,
  more: { stream?: Endpoint['stream']; object?: ObjectUse } = {},
): Endpoint {
  return row(operation, `POST /{version}/{model}:${verb}`, { model: 'path', takes: json, ...more })
}
