import { z } from 'zod'
import { operation } from './operation.ts'

export const sealShape = z.object({
  /** Short name of the machine key in use, made from its hash. */
  key_id: z.string(),
  source: z.string(),
  format: z.string(),
  sealed: z.number(),
  /** Identities of sealed values that this key does not open; empty is well. */
  broken: z.array(z.string()),
})

export const seal = {
  status: operation({
    summary: 'Show the machine key in use and whether it opens every sealed credential',
    role: 'admin',
    effect: 'read',
    show: { as: 'record' },
    examples: ['seal status'],
  })
    .input(z.strictObject({}))
    .output(sealShape),
}
