import type { Endpoint } from '../contract.ts'

/** Source: wire/lanes.md, section 1.3. */
export const endpoints: readonly Endpoint[] = [
  call('chat', '/chat/completions', 'body', 'sse'),
  call('completions', '/completions', 'body', 'sse'),
  call('responses', '/responses', 'body', 'sse'),
  call('embeddings', '/embeddings', 'body', null),
  call('moderations', '/moderations', 'body-optional', null),
  { operation: 'models.list', method: 'GET', path: '/models', model: 'none', served: 'model-list', stream: null },
  {
    operation: 'models.get',
    method: 'GET',
    path: '/models/{model}',
    model: 'path',
    served: 'model-entry',
    stream: null,
  },
]

function call(operation: string, path: string, model: Endpoint['model'], stream: Endpoint['stream']): Endpoint {
  return { operation, method: 'POST', path, model, served: 'provider', stream }
}
