import { createORPCClient } from '@orpc/client'
import type { AnyContractRouter, ContractRouterClient } from '@orpc/contract'
import { OpenAPILink } from '@orpc/openapi-client/fetch'
import type { Contract } from './contract/index.ts'

export type AdminClient = ContractRouterClient<Contract>

/** How calls travel: `fetch` and the address below which operations stand (`http://…/api`). */
export interface ClientTransport {
  fetch(request: Request): Promise<Response>
  url: string
}

export interface AdminClientOptions {
  transport: ClientTransport
  /** Sent as `x-spgw-version`; the gateway answers with its own. */
  version: string
  /** Who calls, for the audit. */
  surface: 'cli' | 'tui' | 'console'
  /** Told of the gateway's version with each answer; another than one's own is worth a word. */
  onVersion?(version: string): void
}

/**
 * The typed client over `router`: the contract itself, or, where its schemas would be too much to load, a router of the
 * same names.
 */
export function linkAdminClient(router: AnyContractRouter, options: AdminClientOptions): AdminClient {
  const link = new OpenAPILink(router, {
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
