import { eventIterator } from '@orpc/contract'
import { z } from 'zod'
import { reference } from '../fields.ts'
import { field, operation } from '../operation.ts'
import { sentColumns, sentEvent } from './send.ts'

/** One of the two requests, as far as they are to be told apart. */
export const comparedShape = z.object({
  request_id: z.string(),
  status: z.number().nullable(),
  model: z.string().nullable(),
  provider: z.string().nullable(),
  upstream_model: z.string().nullable(),
  duration_ms: z.number().nullable(),
  first_byte_ms: z.number().nullable(),
  input: z.number().nullable(),
  output: z.number().nullable(),
  cost_usd: z.number().nullable(),
  /** What a person reads of its answer; null: it was not kept. */
  answer: z.string().nullable(),
})
export type Compared = z.infer<typeof comparedShape>

/** What the second has more than the first; null: one of them does not say. */
export const differenceShape = z.object({
  duration_ms: z.number().nullable(),
  first_byte_ms: z.number().nullable(),
  input: z.number().nullable(),
  output: z.number().nullable(),
  cost_usd: z.number().nullable(),
  /** How the first answer became the second; null: one was not kept, or both are too long to compare. */
  answer: z.array(z.object({ kind: z.enum(['same', 'removed', 'added']), text: z.string() })).nullable(),
})
export type ReplayDifference = z.infer<typeof differenceShape>

/** What `requests.send` tells, and at the end both requests beside one another. */
export const replayedEvent = z.discriminatedUnion('kind', [
  ...sentEvent.options,
  z.object({
    kind: z.literal('compared'),
    before: comparedShape,
    after: comparedShape,
    difference: differenceShape,
    text: z.string(),
  }),
])
export type ReplayedEvent = z.infer<typeof replayedEvent>

export const replay = operation({
  summary: 'Send a captured request again and compare the two',
  role: 'admin',
  reach: 'project',
  effect: 'write',
  show: { as: 'live', columns: sentColumns },
  positional: ['id'],
  examples: [
    'requests replay req_01jd3k4m5n6p7q8r9s0t1v2w3x',
    'requests replay req_01jd3k4m5n6p7q8r9s0t1v2w3x --model gpt-4o-mini --key staging',
    'requests replay req_01jd3k4m5n6p7q8r9s0t1v2w3x --provider azure-eu --model gpt-4o-mini',
  ],
})
  .input(
    z.strictObject({
      id: field(reference, { description: 'Request ID', prompt: 'Request ID', acceptsId: true }),
      key: field(reference.optional(), {
        description: 'Key to send it as, in the same project and environment (default: the original key)',
        label: 'Send as key',
      }),
      model: field(reference.optional(), { description: 'Model to ask for instead (default: the original model)' }),
      provider: field(reference.optional(), {
        description: 'Provider to call instead, whatever the route says (default: as the route decides)',
      }),
    }),
  )
  .output(eventIterator(replayedEvent))
