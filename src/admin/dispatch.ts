import type { IncomingMessage, ServerResponse } from 'node:http'
import { OpenAPIHandler } from '@orpc/openapi/node'
import { BodyLimitPlugin } from '@orpc/server/node'
import type { AdminParts, Caller } from './handlers/context.ts'
import { router } from './handlers/index.ts'

export type { Caller }

/** An operation's input never comes near it; what does is a mistake or an attack. */
const maxBodySize = 1024 * 1024

export interface Dispatcher {
  /** Serves `/api/<noun>/<verb>`; false: the path is no operation's. The caller has been identified by whoever calls this. */
  dispatch(request: IncomingMessage, response: ServerResponse, caller: Caller, closing: AbortSignal): Promise<boolean>
}

/** The one way in to the operations, for every surface. */
export function createDispatcher(parts: AdminParts): Dispatcher {
  const handler = new OpenAPIHandler(router, { plugins: [new BodyLimitPlugin({ maxBodySize })] })
  return {
    async dispatch(request, response, caller, closing) {
      const context = { ...parts, caller, closing }
      return (await handler.handle(request, response, { prefix: '/api', context })).matched
    },
  }
}
