import { z } from 'zod'
import { momentText, nameField, time } from '../fields.ts'
import { field, operation } from '../operation.ts'

export const providerStateShape = z.object({
  time,
  state: z.enum(['ready', 'failing', 'unchecked']),
  reason: z.string().nullable(),
})

export const history = operation({
  summary: 'Show when the state of a provider changed, newest first, for up to 30 days',
  role: 'viewer',
  reach: 'workspace',
  effect: 'read',
  show: {
    as: 'table',
    columns: [
      { field: 'time', title: 'SINCE', format: 'age' },
      { field: 'state', title: 'STATE', format: 'state', also: { field: 'reason', join: ': ' } },
    ],
    empty: 'No history yet. Check the provider: spgw providers check NAME',
  },
  positional: ['name'],
  examples: ['providers history openai', 'providers history openai --since 24h --json'],
})
  .input(
    z.strictObject({
      ...nameField('provider'),
      since: field(momentText.default('30d'), {
        description: 'Start: a duration before now, such as 24h, a day (UTC) or a time',
      }),
    }),
  )
  /** The last is the state in which it was when `since` began, where that is known: its time may be before. */
  .output(z.array(providerStateShape))
