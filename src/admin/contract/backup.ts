import { eventIterator } from '@orpc/contract'
import { z } from 'zod'
import { downloadOf } from './download.ts'
import { field, operation } from './operation.ts'

export const backupEvent = downloadOf({
  created_at: z.string(),
  /** Of spgw, and the last migration of the database in it. */
  version: z.string(),
  schema: z.string(),
  providers: z.number(),
  keys: z.number(),
  records: z.number(),
  /** How many credentials it holds, sealed; 0 with `--without-credentials`. */
  credentials: z.number(),
  /** Short name of the recovery key that opens them; null: it holds none. */
  recovery_key_id: z.string().nullable(),
  /** Identities of credentials that do not open here either, and were left behind. */
  broken: z.array(z.string()),
})
export type BackupEvent = z.infer<typeof backupEvent>

export const backup = operation({
  summary: 'Back up the running gateway to a file',
  role: 'owner',
  reach: 'workspace',
  effect: 'read',
  show: { as: 'file', name: 'spgw-backup', ending: 'backup' },
  examples: ['backup', 'backup /mnt/safe/spgw.backup', 'backup gateway.backup --without-records --json'],
})
  .input(
    z.strictObject({
      withoutCredentials: field(z.boolean().default(false), { description: 'Leave out provider credentials' }),
      withoutRecords: field(z.boolean().default(false), { description: 'Leave out request records' }),
    }),
  )
  .output(eventIterator(backupEvent))
