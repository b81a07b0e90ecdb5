import { z } from 'zod'
import { momentText, time } from './fields.ts'
import { field, operation } from './operation.ts'

export const auditShape = z.object({
  id: z.string(),
  time,
  actor: z.string(),
  surface: z.enum(['cli', 'tui', 'console', 'api', 'gateway']),
  operation: z.string(),
  resource: z.object({ kind: z.string(), id: z.string(), name: z.string() }),
  /** Without secrets: credentials show as their last four. */
  before: z.unknown(),
  after: z.unknown(),
})

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
      ],
      empty: 'Nothing was changed yet.',
    },
    examples: ['audit list', 'audit list --operation keys.revoke --since 7d'],
  })
    .input(
      z.strictObject({
        operation: field(z.string().optional(), { description: 'Of this operation, such as keys.revoke' }),
        resource: field(z.string().optional(), { description: 'Of the resource with this name or id' }),
        since: field(momentText.optional(), { description: 'Not before: a duration back from now, or a time' }),
        until: field(momentText.optional(), { description: 'Not after: a duration back from now, or a time' }),
        limit: field(z.int().min(1).max(1000).default(50), { description: 'At most so many' }),
      }),
    )
    .output(z.array(auditShape)),
}
