import { eventIterator } from '@orpc/contract'
import { z } from 'zod'
import { downloadOf } from './download.ts'
import { momentText, reference, time } from './fields.ts'
import { field, operation } from './operation.ts'

const surfaces = ['cli', 'tui', 'console', 'api', 'gateway'] as const
const hash = z.string().regex(/^[0-9a-f]{64}$/, 'must be the hash of a line: 64 hexadecimal digits')

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

const filters = {
  actor: field(reference.optional(), { description: 'By this operator or token: name or id' }),
  surface: field(z.enum(surfaces).optional(), { description: 'Through this surface' }),
  operation: field(z.string().optional(), { description: 'Of this operation, such as keys.revoke, or keys for all' }),
  resource: field(z.string().optional(), { description: 'Of the resource with this name or id' }),
  project: field(reference.optional(), { description: 'Of things of this project: name or id' }),
  since: field(momentText.optional(), { description: 'Not before: a duration back from now, or a time' }),
  until: field(momentText.optional(), { description: 'Not after: a duration back from now, or a time' }),
}

export const audit = {
  list: operation({
    summary: 'List what was changed, by whom, newest first',
    role: 'admin',
    reach: 'project',
    effect: 'read',
    show: {
      as: 'table',
      columns: [
        { field: 'time', title: 'TIME', format: 'age' },
        { field: 'actor', title: 'WHO' },
        { field: 'surface', title: 'THROUGH' },
        { field: 'operation', title: 'OPERATION' },
        { field: 'resource.kind', title: 'KIND' },
        { field: 'resource.name', title: 'RESOURCE' },
        { field: 'id', title: 'ID', format: 'id' },
      ],
      empty: 'No line matches; every change leaves one.',
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
        limit: field(z.int().min(1).max(1000).default(50), { description: 'At most so many' }),
        before: field(z.string().optional(), { description: 'Written before the line of this id (paging)' }),
      }),
    )
    .output(z.array(auditShape)),
  show: operation({
    summary: 'Show one line of the audit, with what was before and after',
    role: 'admin',
    reach: 'project',
    effect: 'read',
    show: { as: 'record' },
    positional: ['id'],
    examples: ['audit show aud_01jd3k4m5n6p7q8r9s0t1v2w3x'],
  })
    .input(z.strictObject({ id: field(reference, { description: 'Id of the line', prompt: 'Id of the line' }) }))
    .output(auditShape),
  verify: operation({
    summary: 'Prove that no line of the audit was altered, put in or taken out',
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
            'Hash at which the chain once stood, noted elsewhere: nothing up to there was cut or written anew',
        }),
      }),
    )
    .output(auditVerdictShape),
  export: operation({
    summary: 'Write the audit into a file, one JSON line each, oldest first',
    role: 'admin',
    reach: 'project',
    effect: 'read',
    show: { as: 'file', name: 'spgw-audit', ending: 'jsonl' },
    examples: ['audit export', 'audit export audit.jsonl --since 30d', 'audit export search.jsonl --project search'],
  })
    .input(z.strictObject(filters))
    .output(eventIterator(auditExportEvent)),
}
