import type { Endpoint } from '../contract.ts'
import { modelRows } from '../endpoint-row.ts'
import { compileEndpoints, type Matcher } from '../endpoint-table.ts'
import { media } from './endpoints/media.ts'
import { generation, responses } from './endpoints/models.ts'
import { calls, sockets } from './endpoints/realtime.ts'
import { notServed, row } from './endpoints/row.ts'
import { files, stores } from './endpoints/stores.ts'
import { assistants, training } from './endpoints/training.ts'

const account =
  "administration of the provider's account belongs to its operator and is not offered through a gateway key"
const agents =
  "the provider's hosted agents act with the account's own vaults, schedules and environments, which no project owns"
const webhooks = "the provider's webhooks report on the whole account, which no project owns"
const permissions = "sharing a checkpoint between the account's own projects needs the provider's admin key"

/** Source: wire/lanes.md, section 1.3 (admin and hosted families). */
export const rejected: readonly Endpoint[] = [
  ...notServed('organization', '/organization', account),
  ...notServed('projects', '/projects', account),
  ...notServed('safety', '/safety', account),
  ...notServed('webhooks', '/webhook_endpoints', webhooks),
  ...notServed('webhooks', '/webhook_event_types', webhooks),
  ...notServed('agents', '/agents', agents),
  ...notServed('vaults', '/vaults', agents),
  ...notServed('chatkit', '/chatkit', agents),
  ...notServed('fine_tuning.permissions', '/fine_tuning/checkpoints', permissions),
]

/** Source: wire/lanes.md, section 1.3. */
export const endpoints: readonly Endpoint[] = [
  ...generation,
  ...responses,
  ...media,
  ...files(findEndpoint),
  ...stores,
  ...training,
  ...assistants,
  ...sockets,
  ...calls,
  ...modelRows(row, '/models', '/models/{model}'),
  ...rejected,
]

export const matchEndpoint: Matcher = compileEndpoints(endpoints, { model: '.+', version: '', object: '[^/]+' })

/** For rows that refer to other rows of the table. */
function findEndpoint(...call: Parameters<Matcher>): ReturnType<Matcher> {
  return matchEndpoint(...call)
}
