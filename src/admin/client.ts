import { createORPCClient } from '@orpc/client'
import type { ContractRouterClient } from '@orpc/contract'
import { OpenAPILink } from '@orpc/openapi-client/fetch'
import { type Contract, contract } from './contract/index.ts'

export type AdminClient = ContractRouterClient<Contract>

/** How calls travel: `fetch` and the address below which operations stand (`http://…/api`). */
export interface Transport {
  fetch(request: Request): Promise<Response>
  url: string
}

export interface AdminClientOptions {
  transport: Transport
  /** Sent as `x-spgw-version`; the gateway answers with its own. */
  version: string
  /** Who calls, for the audit. */
  surface: 'cli' | 'tui' | 'console'
  /** Told of the gateway's version with each answer; another than one's own is worth a word. */
  onVersion?(version: string): void
}

/** The typed client of the admin contract. Runs in a browser too: the socket is `socket-transport.ts`. */
export function createAdminClient(options: AdminClientOptions): AdminClient {
  const link = new OpenAPILink(contract, {
    url: options.transport.url,
    fetch: async (request) => {
      const answer = await options.transport.fetch(request)
      const version = answer.headers.get('x-spgw-version')
      if (version !== null) options.onVersion?.(version)
      return answer
    },
    headers: { 'x-spgw-version': options.version, 'x-spgw-surface': options.surface },
  })
  return createORPCClient(link)
}
