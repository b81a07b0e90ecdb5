import type { IncomingMessage, ServerResponse } from 'node:http'
import { OpenAPIHandler } from '@orpc/openapi/node'
import { nowDoing } from '../core/threads/turn-watch.ts'
import type { AdminParts, OperationCaller } from './handlers/context.ts'
import { router } from './handlers/index.ts'
import { BadBody, readOperationBody } from './read-body.ts'

export type { OperationCaller }

export interface Dispatcher {
  /**
   * Serves `/api/<noun>/<verb>`; false: the path is no operation's. The caller has been identified by whoever calls this. `x-spgw-degraded`
   * names parts of the gateway that are degraded, each with the time since which it is.
   */
  dispatch(
    request: IncomingMessage,
    response: ServerResponse,
    caller: OperationCaller,
    closing: AbortSignal,
  ): Promise<boolean>
}

/** The one way in to the operations, for every surface. */
export function createDispatcher(parts: AdminParts): Dispatcher {
  const answers = new WeakMap<object, ServerResponse>()
  // Also what the operation itself has met: a reading that PostgreSQL refuses is the first to know.
  const noteDegraded = (context: object) => {
    const degraded = parts.runtime.degraded().map(({ part, since }) => `${part}=${since}`)
    if (degraded.length > 0) answers.get(context)?.setHeader('x-spgw-degraded', degraded.join(','))
  }
  const handler = new OpenAPIHandler(router, {
    clientInterceptors: [
      async ({ next, context }) => {
        try {
          return withEnd(await next())
        } finally {
          noteDegraded(context)
        }
      },
    ],
  })
  return {
    async dispatch(request, response, caller, closing) {
      const body = await readOperationBody(request).catch((error: unknown) => {
        if (error instanceof BadBody) return error
        // The client has gone while it sent.
        if (request.destroyed) return null
        throw error
      })
      if (body === null) return true
      if (body instanceof BadBody) return refuseBody(response, body)
      nowDoing('operation', request.url ?? '')
      const context = { ...parts, caller, closing }
      answers.set(context, response)
      // What has a body already is not read again.
      return (await handler.handle(Object.assign(request, { body }), response, { prefix: '/api', context })).matched
    },
  }
}

/** The end of a stream is an event only where it has a value, and without one it looks as if it had been cut off. */
function withEnd(output: unknown): unknown {
  if (!isStream(output)) return output
  return {
    async next() {
      const { done, value } = await output.next()
      return done === true ? { done, value: null } : { done: false, value }
    },
    return: async () => await output.return?.(),
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

function isStream(output: unknown): output is AsyncIterator<unknown> {
  return typeof output === 'object' && output !== null && Symbol.asyncIterator in output && 'next' in output
}

function refuseBody(response: ServerResponse, { status, message, hint }: BadBody): true {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
  response.end(JSON.stringify({ defined: true, code: 'invalid', status, message, data: { hint } }))
  return true
}
