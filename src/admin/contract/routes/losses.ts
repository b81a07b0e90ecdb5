import { z } from 'zod'
import { formatNames } from '../../../core/format.ts'
import { field, operation } from '../operation.ts'

/**
 * What becomes of a field: `depends`: it arrives, but not with every model, server or value; `kept`, perhaps by another name; `no effect`:
 * it says nothing about the answer.
 */
export const outcomes = ['refused', 'lost', 'changed', 'depends', 'kept', 'no effect'] as const

export const losses = operation({
  summary: 'Show what translation from one format into another keeps, changes, loses and refuses',
  role: 'viewer',
  reach: 'project',
  effect: 'read',
  show: {
    as: 'table',
    columns: [
      { field: 'field', title: 'FIELD' },
      { field: 'outcome', title: 'OUTCOME' },
      { field: 'why', title: 'WHY' },
    ],
    empty: 'Requests in the format of the provider are not translated: nothing is lost.',
  },
  positional: ['from', 'to'],
  examples: ['routes losses chat messages', 'routes losses messages generate'],
})
  .input(
    z.strictObject({
      from: field(z.enum(formatNames), { description: 'Format of the client', prompt: 'From which format?' }),
      to: field(z.enum(formatNames), { description: 'Format of the provider', prompt: 'To which format?' }),
    }),
  )
  .output(z.array(z.object({ field: z.string(), outcome: z.enum(outcomes), why: z.string().nullable() })))
