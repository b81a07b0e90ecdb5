import { eventIterator } from '@orpc/contract'
import { z } from 'zod'
import { reference } from './fields.ts'
import { field, operation } from './operation.ts'
import { sentEvent } from './send.ts'

export const replay = operation({
  summary: 'Send a recorded request again, in the same scope',
  role: 'admin',
  reach: 'project',
  effect: 'write',
  show: {
    as: 'live',
    columns: [
      { field: 'kind', title: 'KIND' },
      { field: 'status', title: 'STATUS', format: 'state' },
      { field: 'text', title: 'TEXT' },
      { field: 'request_id', title: 'REQUEST', format: 'id' },
    ],
  },
  positional: ['id'],
  examples: ['requests replay req_01jd3k4m5n6p7q8r9s0t1v2w3x'],
})
  .input(z.strictObject({ id: field(reference, { description: 'Id of the request', prompt: 'Request id' }) }))
  .output(eventIterator(sentEvent))
