import type { Endpoint } from '../contract.ts'
import { modelEntry, modelList } from '../endpoint-table.ts'

/** Source: wire/lanes.md, section 1.3. */
export const endpoints: readonly Endpoint[] = [
  call('chat', '/chat/completions', 'body', 'sse'),
  call('completions', '/completions', 'body', 'sse'),
  call('responses', '/responses', 'body', 'sse'),
  call('embeddings', '/embeddings', 'body', null),
  call('moderations', '/moderations', 'body-optional', null),
  modelList('/models'),
  modelEntry('/models/{model}'),
]

function call(operation: string, path: string, model: Endpoint['model'], stream: Endpoint['stream']): Endpoint {
  return {
    operation,
    method: 'POST',
    path,
    model,
    served: 'provider',
    takes: ['json'],
    gives: 'json',
    stream,
    object: null,
  }
}
