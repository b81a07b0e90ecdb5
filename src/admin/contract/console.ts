import { z } from 'zod'
import { reference, time } from './fields.ts'
import { field, operation } from './operation.ts'

const input = z.strictObject({
  operator: field(reference.optional(), {
    description: 'Operator, by name or ID (default: the only owner; without any operator, the first owner is made)',
  }),
})
const output = z.object({
  url: z.string(),
  /** null: whoever opens the link becomes the first owner. */
  operator: z.string().nullable(),
  expires_at: time,
})
const note =
  'Anyone who has this link can sign in with it, without a password or code. It works once and expires in ten minutes.'

export const console = {
  link: operation({
    summary: 'Create a sign-in link for the console; it works once, for ten minutes',
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
