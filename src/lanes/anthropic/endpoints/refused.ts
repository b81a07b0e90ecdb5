import type { Endpoint } from '../../contract.ts'
import { refuse } from '../../endpoint-row.ts'

const account =
  "administration of the provider's account belongs to its operator and is not offered through a gateway key"
const agents = "the provider's hosted agents act with the account's own vaults and environments, which no project owns"
const profiles = "user profiles are the account's own, and their links lead to the provider's pages, past the gateway"

/** Source: wire/lanes.md, section 2.3 (preview and admin families). */
export const refused: readonly Endpoint[] = [
  ...refuse('organizations', '/v1/organizations', account),
  ...refuse('tunnels', '/v1/tunnels', account),
  ...refuse('user_profiles', '/v1/user_profiles', profiles),
  ...refuse('agents', '/v1/agents', agents),
  ...refuse('sessions', '/v1/sessions', agents),
  ...refuse('environments', '/v1/environments', agents),
  ...refuse('deployments', '/v1/deployments', agents),
  ...refuse('deployments', '/v1/deployment_runs', agents),
  ...refuse('vaults', '/v1/vaults', agents),
  ...refuse('memory_stores', '/v1/memory_stores', agents),
  ...refuse('dreams', '/v1/dreams', agents),
]
