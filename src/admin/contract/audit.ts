import { eventIterator } from '@orpc/contract'
import { z } from 'zod'
import { isId } from '../../core/ids.ts'
import { downloadOf } from './download.ts'
import { momentText, reference, time } from './fields.ts'
import { field, operation } from './operation.ts'

const surfaces = ['cli', 'tui', 'console', 'api', 'gateway'] as const
const hash = z.string().regex(/^[0-9a-f]{64}$/, 'must be the hash of an audit entry: 64 hexadecimal digits')

export const auditShape = z.object({
  id: z.string(),
  /** Its number: from 1, without a gap. */
  sequence: z.number(),
  time,
  actor: z.string(),
  /** Of the operator or the token; null: the local owner, the gateway itself, or a line of before this was kept. */
  actor_id: z.string().nullable(),
  surface: z.enum(surfaces),
  address: z.string().nullable(),
  operation: z.string(),
  resource: z.object({ kind: z.string(), id: z.string(), name: z.string() }),
  /** Whose thing it is: a project's, or null: the workspace's or several projects'. */
  project: z.string().nullable(),
  /** Without secrets: credentials show as their last four. */
  before: z.unknown(),
  after: z.unknown(),
  /** Of the line before, and over this line with it. */
  previous_hash: z.string(),
  hash: z.string(),
})

const markShape = z.object({ sequence: z.number(), id: z.string(), time, hash: z.string() })

export const auditVerdictShape = z.object({
  ok: z.boolean(),
  /** What is wrong, in a sentence; null: nothing. */
  problem: z.string().nullable(),
  lines: z.number(),
  /** Where the chain stands. Noted elsewhere, its hash proves later that nothing was cut or written anew. */
  head: markShape.nullable(),
  /** The first line that is not right. */
  broken: markShape.nullable(),
  /** The line with the hash that was given. */
  noted: markShape.nullable(),
})

export const auditExportEvent = downloadOf({
  lines: z.number(),
  /** Of the last of them. */
  head_hash: z.string().nullable(),
})
export type AuditExportEvent = z.infer<typeof auditExportEvent>

const before = z
  .string()
  .refine((text) => isId(text, 'aud'), 'must be the whole ID of an entry, such as aud_01jd3k4m5n6p7q8r9s0t1v2w3x')

const filters = {
  actor: field(reference.optional(), { description: 'Only changes by this operator or token (name or ID)' }),
  surface: field(z.enum(surfaces).optional(), { description: 'Only changes through this surface' }),
  operation: field(z.string().optional(), {
    description: 'Only this operation (keys.revoke) or group of operations (keys)',
  }),
  resource: field(z.string().optional(), { description: 'Only changes to this resource (name or ID)' }),
  project: field(reference.optional(), { description: 'Only changes in this project (name or ID)' }),
  since: field(momentText.optional(), {
    description: 'Start: a duration before now, such as 24h, a day (UTC) or a time',
  }),
  until: field(momentText.optional(), {
    description: 'End: a duration before now, such as 24h, a day (UTC) or a time',
  }),
}

export const audit = {
  list: operation({
    summary: 'List changes and who made them, newest first',
    role: 'admin',
    reach: 'project',
    effect: 'read',
    show: {
      as: 'table',
      columns: [
        { field: 'time', title: 'TIME', format: 'age' },
        // What was done to what is worth more than how, and by whom.
        { field: 'actor', title: 'ACTOR', spare: true },
        { field: 'surface', title: 'SURFACE', spare: true },
        { field: 'operation', title: 'OPERATION' },
        { field: 'resource.kind', title: 'KIND', spare: true },
        { field: 'resource.name', title: 'RESOURCE' },
        { field: 'id', title: 'ID', format: 'id' },
      ],
      empty: 'No entries match. Every change is recorded here.',
    },
    examples: [
      'audit list',
      'audit list --operation keys.revoke --since 7d',
      'audit list --actor anna --project search',
    ],
  })
    .input(
      z.strictObject({
        ...filters,
        limit: field(z.int().min(1).max(1000).default(50), { description: 'Maximum number of entries' }),
        before: field(before.optional(), {
          description: 'Only entries older than the one with this ID (for paging)',
        }),
      }),
    )
    .output(z.array(auditShape)),
  show: operation({
    summary: 'Show one entry of the audit log, with the values before and after',
    role: 'admin',
    reach: 'project',
    effect: 'read',
    show: { as: 'record' },
    positional: ['id'],
    examples: ['audit show aud_01jd3k4m5n6p7q8r9s0t1v2w3x'],
  })
    .input(
      z.strictObject({
        id: field(reference, { description: 'ID of the entry', prompt: 'Audit entry ID', acceptsId: true }),
      }),
    )
    .output(auditShape),
  verify: operation({
    summary: 'Verify that no entry of the audit log was changed, added or removed',
    role: 'admin',
    reach: 'workspace',
    effect: 'read',
    show: { as: 'record' },
    examples: ['audit verify', 'audit verify --json | jq -r .head.hash', 'audit verify --head "$NOTED_HASH"'],
  })
    .input(
      z.strictObject({
        head: field(hash.optional(), {
          description:
            'Hash that you noted earlier: also proves that nothing up to that entry was removed or rewritten',
        }),
      }),
    )
    .output(auditVerdictShape),
  export: operation({
    summary: 'Export the audit log to a file, one JSON object a line, oldest first',
    role: 'admin',
    reach: 'project',
    effect: 'read',
    show: { as: 'file', name: 'spgw-audit', ending: 'jsonl' },
    examples: ['audit export', 'audit export audit.jsonl --since 30d', 'audit export search.jsonl --project search'],
  })
    .input(z.strictObject(filters))
    .output(eventIterator(auditExportEvent)),
}
