import { eventIterator } from '@orpc/contract'
import { z } from 'zod'
import { momentText, reference } from '../fields.ts'
import { field, operation } from '../operation.ts'
import { requestFilters } from './request-filters.ts'

export const purgedEvent = z.object({
  done: z.boolean(),
  /** Records, or with `bodies` captured bodies. */
  removed: z.number(),
  /** How far back it has come; null: it is done, or has not begun. */
  time: z.string().nullable(),
  /** Nodes of a cluster that have not deleted theirs yet: those that are away do when they are back. */
  missing: z.array(z.string()),
})
export type PurgedEvent = z.infer<typeof purgedEvent>

export const purge = operation({
  summary: 'Delete request records, or only the captured bodies, up to a time',
  role: 'admin',
  reach: 'workspace',
  effect: 'danger',
  confirm: 'Request records or bodies up to {until} are deleted for good, and their figures leave the statistics.',
  show: {
    as: 'live',
    columns: [
      { field: 'time', title: 'BACK TO', format: 'time' },
      { field: 'removed', title: 'DELETED', format: 'number' },
      { field: 'done', title: 'FINISHED', format: 'flag', also: { field: 'missing', join: ', not yet on ' } },
    ],
  },
  examples: [
    'requests purge --until 30d --yes',
    'requests purge --bodies --until 0s --key ci',
    'requests purge --until 0s --user u-42',
  ],
})
  .input(
    z.strictObject({
      until: field(momentText, {
        description: 'Only what came before this: a duration before now, such as 30d (0s: everything), or a time',
        prompt: 'Until when? (30d, or a time)',
      }),
      bodies: field(z.boolean().default(false), {
        description: 'Only delete captured bodies; records stay',
        label: 'Bodies only',
      }),
      key: field(reference.optional(), { description: 'Only requests with this key (name or ID)' }),
      project: requestFilters.project,
      tags: requestFilters.tags,
      user: field(z.string().min(1).optional(), {
        description: 'Only requests for this end user (the tag user)',
        label: 'End user',
      }),
    }),
  )
  .output(eventIterator(purgedEvent))
