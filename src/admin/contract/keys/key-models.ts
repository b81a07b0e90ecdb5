import { z } from 'zod'
import { laneName, reference, scopeFields } from '../fields.ts'
import { field, operation } from '../operation.ts'

export const keyModelShape = z.object({
  model: z.string(),
  /** Kind of the provider that serves it first. */
  kind: z.string(),
  context_tokens: z.number().nullable(),
  output_tokens: z.number().nullable(),
})

export const models = operation({
  summary: "List the models that a key can use, as a lane's model list shows them to it",
  role: 'viewer',
  reach: 'project',
  effect: 'read',
  show: {
    as: 'table',
    columns: [
      { field: 'model', title: 'MODEL' },
      { field: 'kind', title: 'KIND' },
      { field: 'context_tokens', title: 'CONTEXT', format: 'number' },
      { field: 'output_tokens', title: 'OUTPUT', format: 'number' },
    ],
    empty: 'No models. Add a route to a provider of this lane: spgw routes add MODEL --provider NAME',
  },
  positional: ['key'],
  examples: ['keys models', 'keys models ci --lane anthropic'],
})
  .input(
    z.strictObject({
      key: field(reference.optional(), {
        description: 'Name, ID or last four of the key (default: a new key without a policy of its own)',
      }),
      ...scopeFields,
      lane: field(laneName.default('openai'), { description: 'Lane' }),
    }),
  )
  .output(z.array(keyModelShape))
