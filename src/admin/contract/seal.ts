import { z } from 'zod'
import { operation } from './operation.ts'

export const sealShape = z.object({
  /** Short name of the machine key in use, made from its hash. */
  key_id: z.string(),
  source: z.string(),
  /** The file that `source` has yet to replace, after a rotation whose key the gateway could not put there itself. */
  to_replace: z.string().nullable(),
  format: z.string(),
  sealed: z.number(),
  /** Identities of sealed values that this key does not open; empty is well. */
  broken: z.array(z.string()),
  /** Short name of the recovery key that backups are made for; null: none was made. */
  recovery_key_id: z.string().nullable(),
})

const sealColumns = [
  { field: 'key_id', title: 'KEY' },
  { field: 'source', title: 'SOURCE' },
  { field: 'to_replace', title: 'TO REPLACE' },
  { field: 'format', title: 'FORMAT' },
  { field: 'sealed', title: 'SEALED', format: 'number' },
  { field: 'broken', title: 'BROKEN', format: 'list' },
  {
    field: 'recovery_key_id',
    title: 'RECOVERY KEY',
    absent: 'none; a backup of credentials needs one: spgw seal recovery-key',
  },
] as const

export const seal = {
  status: operation({
    summary: 'Show the machine key in use and whether it opens every sealed credential',
    role: 'admin',
    reach: 'workspace',
    effect: 'read',
    show: { as: 'record', columns: sealColumns },
    examples: ['seal status'],
  })
    .input(z.strictObject({}))
    .output(sealShape),
  rotate: operation({
    summary: 'Create a new machine key and seal all credentials with it',
    role: 'owner',
    reach: 'workspace',
    effect: 'danger',
    confirm:
      'Create a new machine key? Copies of the old one no longer open this gateway, so make a copy of the new one.',
    show: { as: 'record' },
    examples: ['seal rotate', 'seal rotate --yes'],
  })
    .input(z.strictObject({}))
    .output(
      z.object({
        previous_key_id: z.string(),
        ...sealShape.shape,
        /** What is left to do, in a sentence. */
        to_do: z.string(),
      }),
    ),
  'recovery-key': operation({
    summary: 'Create a new recovery key, which opens the credentials in future backups',
    role: 'owner',
    reach: 'workspace',
    effect: 'danger',
    confirm: 'Create a new recovery key? It is shown only once. Backups made before still need the old one.',
    show: {
      as: 'once',
      field: 'recovery_key',
      note: 'Shown only once. Print it and keep it apart from this machine and the backups: without it, the credentials in a backup cannot be restored.',
    },
    examples: ['seal recovery-key', 'seal recovery-key --yes | lp'],
  })
    .input(z.strictObject({}))
    .output(z.object({ recovery_key: z.string(), recovery_key_id: z.string() })),
}
