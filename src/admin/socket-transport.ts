import { Agent, fetch as undiciFetch } from 'undici'
import type { Transport } from './client.ts'

/** Nobody listens on the admin socket. `hint` says what to do. */
export class GatewayNotRunning extends Error {
  readonly hint = 'Start it: spgw serve'

  constructor(socketPath: string, cause: unknown) {
    super(`no gateway is running at ${socketPath}`, { cause })
    this.name = 'GatewayNotRunning'
  }
}

/** The one host that the admin socket answers to: a page cannot name it, for it does not resolve. */
export const socketHost = 'spgw.socket'
const retryMs = 50

export interface SocketTransport extends Transport {
  close(): Promise<void>
}

/**
 * Calls over the admin socket. `waitMs`: how long a refused dial is tried again, for a gateway that is still starting.
 * Throws `GatewayNotRunning`.
 */
export function openSocketTransport(socketPath: string, options: { waitMs: number }): SocketTransport {
  // A tail may be silent for ever, so no limit of the library's own.
  const agent = new Agent({ connect: { socketPath }, headersTimeout: 0, bodyTimeout: 0 })
  return {
    url: `http://${socketHost}/api`,
    fetch: (request) => send(request, agent, socketPath, performance.now() + options.waitMs),
    close: () => agent.destroy(),
  }
}

async function send(request: Request, agent: Agent, socketPath: string, deadline: number): Promise<Response> {
  const body = await request.text()
  while (true) {
    try {
      const answer = await undiciFetch(request.url, {
        method: request.method,
        headers: [...request.headers],
        body,
        signal: request.signal,
        dispatcher: agent,
      })
      // Undici's own Response and Node's are two classes of one shape; oRPC reads only what both have.
      return new Response(answer.body as ReadableStream | null, { status: answer.status, headers: [...answer.headers] })
    } catch (error) {
      if (!isDialFailure(error)) throw error
      if (performance.now() >= deadline) throw new GatewayNotRunning(socketPath, error)
      await new Promise((resolve) => setTimeout(resolve, retryMs))
    }
  }
}

function isDialFailure(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return code === 'ENOENT' || code === 'ECONNREFUSED'
}
