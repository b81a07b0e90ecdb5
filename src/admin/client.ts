import { type AdminClient, type AdminClientOptions, linkAdminClient } from './client-link.ts'
import { contract } from './contract/index.ts'

export type { AdminClient, ClientTransport } from './client-link.ts'

/** The typed client of the admin contract. Runs in a browser too: the socket is `socket-transport.ts`. */
export function createAdminClient(options: AdminClientOptions): AdminClient {
  return linkAdminClient(contract, options)
}
