import { z } from 'zod'
import { reference, time } from './fields.ts'
import { field, operation } from './operation.ts'

const input = z.strictObject({
  operator: field(reference.optional(), {
    description: 'Operator, by name or id (default: the one owner; the first, where there is none yet)',
  }),
})
const output = z.object({
  url: z.string(),
  /** null: whoever opens the link becomes the first owner. */
  operator: z.string().nullable(),
  expires_at: time,
})
const note = 'Whoever opens it first is signed in, without a password or a code. Good for ten minutes, and once.'

export const console = {
  link: operation({
    summary: 'Make a link that signs an operator in to the console once, within ten minutes',
    role: 'owner',
    reach: 'workspace',
    effect: 'write',
    show: { as: 'once', field: 'url', note },
    positional: ['operator'],
    examples: ['console link', 'console link anna'],
  })
    .input(input)
    .output(output),
  open: operation({
    summary: 'Open the console in a browser, signed in',
    role: 'owner',
    reach: 'workspace',
    effect: 'write',
    show: { as: 'once', field: 'url', note, opens: true },
    positional: ['operator'],
    examples: ['console open'],
  })
    .input(input)
    .output(output),
}
