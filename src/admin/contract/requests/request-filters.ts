import { z } from 'zod'
import { durationText, laneName, momentText, reference } from '../fields.ts'
import { field } from '../operation.ts'
import { recordShape } from './record.ts'

const tagName = z.string().regex(/^[^=]/, 'must be a tag such as team=search, or its name alone')

/** What requests are chosen by: the same for lists, the live feed, sums and exports. */
export const requestFilters = {
  project: field(reference.optional(), { description: 'Only requests in this project' }),
  environment: field(reference.optional(), { description: 'Only requests in this environment' }),
  key: field(reference.optional(), {
    description: 'Only requests with this key (name, project/environment/name or ID)',
  }),
  model: field(z.string().optional(), { description: 'Only requests for this model' }),
  provider: field(reference.optional(), { description: 'Only requests served by this provider' }),
  status: field(
    z
      .string()
      .regex(/^[1-5](\d\d|xx)$/, 'must be a status such as 429, or a class such as 4xx')
      .optional(),
    {
      description: 'Only requests with this status (429) or class of statuses (4xx)',
    },
  ),
  error: field(z.string().optional(), { description: 'Only requests with this error code' }),
  errors: field(z.boolean().optional(), {
    description: 'Only requests that ended in an error',
    label: 'Errors only',
  }),
  slowerThan: field(durationText.optional(), {
    description: 'Only requests that took at least this long',
    label: 'Slower than',
    syntax: 'duration',
  }),
  fellBack: field(z.boolean().optional(), {
    description: 'Only requests that fell back to another target',
    label: 'Fell back',
  }),
  failedAt: field(reference.optional(), {
    description: 'Only requests with a failed attempt at this provider, whichever answered in the end',
    label: 'Failed at',
  }),
  node: field(reference.optional(), { description: 'Only requests answered by this node of the cluster' }),
  lane: field(laneName.optional(), { description: 'Only requests on this lane' }),
  route: field(z.string().optional(), {
    description: 'Only requests matched by this route (its model name or pattern)',
  }),
  tags: field(z.array(tagName).max(32).optional(), {
    description: 'Only requests with this tag: name=value, or the name alone',
    label: 'Tags',
    help: 'Only requests with all of these tags: name=value, or the name alone',
    flag: 'tag',
    syntax: 'list',
  }),
  state: field(recordShape.shape.state.optional(), {
    description:
      'Only requests in this state: in progress (admitted), finished (settled) or interrupted by a gateway crash',
  }),
  id: field(z.string().max(64).optional(), { description: 'Only requests with this text in their ID' }),
}

export const requestWindow = {
  since: field(momentText.optional(), {
    description: 'Start: a duration before now, such as 24h, a day (UTC) or a time',
  }),
  until: field(momentText.optional(), {
    description: 'End: a duration before now, such as 24h, a day (UTC) or a time',
  }),
}

export const noRequest = 'No requests match. Send one with a gateway key, or remove a filter.'
