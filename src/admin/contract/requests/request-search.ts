import { z } from 'zod'
import { isPlaceAmongIds } from '../../../core/ids.ts'
import { time } from '../fields.ts'
import { field, operation } from '../operation.ts'
import { recordShape } from './record.ts'
import { requestColumns } from './request-columns.ts'
import { noRequest, requestFilters, requestWindow } from './request-filters.ts'

/** That of a search can be no request's own, but a moment (`searchShape`). */
const before = z
  .string()
  .refine(
    (text) => isPlaceAmongIds(text, 'req'),
    'must be the whole ID of a request, such as req_01jd3k4m5n6p7q8r9s0t1v2w3x',
  )

export const requestPage = {
  limit: field(z.int().min(1).max(1000).default(50), { description: 'Maximum number of requests' }),
  before: field(before.optional(), {
    description: 'Only requests older than the one with this ID (for paging)',
  }),
}

export const searchShape = z.object({
  requests: z.array(recordShape),
  /** Where the next page begins: its `before`. Null: nothing is left. */
  before: z.string().nullable(),
  /** How far back the search came in the time that it has. Null: the page is whole. */
  searched_until: time.nullable(),
})

export const search = operation({
  summary: 'Search requests, newest first, for a quarter of a second at most, and say how far back that came',
  role: 'viewer',
  reach: 'project',
  effect: 'read',
  show: { as: 'table', rows: ['requests'], columns: requestColumns, empty: noRequest },
  examples: [
    'requests search --tag team=search --json',
    'requests search --slower-than 30s --before req_01jd3k4m5n6p7q8r9s0t1v2w3x',
  ],
})
  .input(z.strictObject({ ...requestFilters, ...requestWindow, ...requestPage }))
  .output(searchShape)
