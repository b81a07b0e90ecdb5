import { eventIterator } from '@orpc/contract'
import { z } from 'zod'
import { downloadOf } from '../download.ts'
import { field, operation } from '../operation.ts'
import { requestFilters, requestWindow } from './request-filters.ts'

export const exportFormats = ['jsonl', 'csv'] as const

/** How many bytes it will be is known at its end; until then `progress` says what it looks like. */
export const requestExportEvent = downloadOf({
  format: z.enum(exportFormats),
  /** As many as matched when it began. */
  records: z.number(),
})
export type RequestExportEvent = z.infer<typeof requestExportEvent>

export const exportRequests = operation({
  summary: 'Export request records to a file, newest first',
  role: 'viewer',
  reach: 'project',
  effect: 'read',
  show: { as: 'file', name: 'spgw-requests', ending: 'jsonl' },
  examples: [
    'requests export',
    'requests export march.csv --format csv --since 2026-03-01T00:00:00Z --until 2026-04-01T00:00:00Z',
    'requests export errors.jsonl --status 5xx --since 24h',
    'requests export newest.jsonl --limit 1000',
  ],
})
  .input(
    z.strictObject({
      ...requestFilters,
      ...requestWindow,
      limit: field(z.int().min(1).optional(), { description: 'Maximum number of requests (default: all)' }),
      format: field(z.enum(exportFormats).default('jsonl'), {
        description: 'Full records, one JSON object a line, or a table of their plain values',
      }),
    }),
  )
  .output(eventIterator(requestExportEvent))
