import { eventIterator } from '@orpc/contract'
import { z } from 'zod'
import { operation } from './operation.ts'
import { statusShape } from './status.ts'

export const watch = operation({
  summary: 'Follow the state of the gateway and changes of its configuration',
  role: 'viewer',
  reach: 'project',
  effect: 'read',
  show: {
    as: 'live',
    columns: [
      { field: 'configuration', title: 'CHANGES', format: 'number' },
      { field: 'status.in_flight', title: 'IN FLIGHT', format: 'number' },
      { field: 'status.traffic.requests_per_second', title: 'REQ/S', format: 'number' },
      { field: 'status.traffic.error_share', title: 'ERRORS', format: 'share' },
      { field: 'status.traffic.duration_p95_ms', title: 'P95', format: 'duration' },
      { field: 'status.traffic.usd_per_hour', title: 'COST/H', format: 'money' },
      { field: 'status.providers.ready', title: 'READY', format: 'number' },
      { field: 'status.providers.failing', title: 'FAILING', format: 'number' },
      { field: 'status.degraded', title: 'DEGRADED', format: 'list' },
    ],
  },
  examples: ['watch', 'watch --json'],
})
  .input(z.strictObject({}))
  .output(
    eventIterator(
      z.object({
        /** Counts up at every change of the configuration since the gateway started. */
        configuration: z.number(),
        status: statusShape,
      }),
    ),
  )
