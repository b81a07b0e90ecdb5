import type { Endpoint } from '../../contract.ts'
import { refuse } from '../../endpoint-row.ts'

const account =
  "administration of the provider's account belongs to its operator and is not offered through a gateway key"
const agents =
  "the provider's hosted agents act with the account's own vaults, schedules and environments, which no project owns"
const webhooks = "the provider's webhooks tell of the whole account, which no project owns"
const permissions = "sharing a checkpoint between the account's own projects needs the provider's admin key"

/** Source: wire/lanes.md, section 1.3 (admin and hosted families). */
export const refused: readonly Endpoint[] = [
  ...refuse('organization', '/organization', account),
  ...refuse('projects', '/projects', account),
  ...refuse('safety', '/safety', account),
  ...refuse('webhooks', '/webhook_endpoints', webhooks),
  ...refuse('webhooks', '/webhook_event_types', webhooks),
  ...refuse('agents', '/agents', agents),
  ...refuse('vaults', '/vaults', agents),
  ...refuse('chatkit', '/chatkit', agents),
  ...refuse('fine_tuning.permissions', '/fine_tuning/checkpoints', permissions),
]
