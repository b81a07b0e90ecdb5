import { z } from 'zod'
import { laneName, momentText, reference } from './fields.ts'
import { field } from './operation.ts'
import { recordShape } from './record.ts'

/** What requests are chosen by: the same for lists, the live feed, sums and exports. */
export const requestFilters = {
  project: field(reference.optional(), { description: 'Of this project' }),
  environment: field(reference.optional(), { description: 'Of this environment' }),
  key: field(reference.optional(), { description: 'Made with this key: name or id' }),
  model: field(z.string().optional(), { description: 'Asking for this model' }),
  provider: field(reference.optional(), { description: 'Served by this provider' }),
  status: field(
    z
      .string()
      .regex(/^[1-5](\d\d|xx)$/, 'must be a status such as 429, or a class such as 4xx')
      .optional(),
    {
      description: 'With this status (429) or class (4xx)',
    },
  ),
  error: field(z.string().optional(), { description: 'With this error code' }),
  lane: field(laneName.optional(), { description: 'On this lane' }),
  route: field(z.string().optional(), { description: 'Matched by this route: its model name or pattern' }),
  tags: field(z.array(z.string().regex(/^[^=]/, 'must be a tag such as team=search, or its name alone')).optional(), {
    description: 'With this tag: name=value, or the name alone (repeat for several: with all of them)',
    flag: 'tag',
    syntax: 'list',
  }),
  state: field(recordShape.shape.state.optional(), {
    description: 'In this state: under way, ended, or cut by the death of the gateway',
  }),
  id: field(z.string().max(64).optional(), { description: 'With this text in the id' }),
}

export const requestWindow = {
  since: field(momentText.optional(), { description: 'Not before: a duration back from now, or a time' }),
  until: field(momentText.optional(), { description: 'Not after: a duration back from now, or a time' }),
}

export const noRequest = 'No request matches. Send one with a gateway key, or loosen the filters.'
