import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent } from 'undici'
import { errorCode } from '../core/caught.ts'
import type { ClientTransport } from './client.ts'
import { GatewayNotRunning } from './client-fault.ts'
import { socketHost } from './contract/socket-host.ts'

const retryMs = 50

/** While their answers come: a request that is collected as garbage no longer hears of its caller's abort. */
const underWay = new Set<Request>()

export interface SocketTransport extends ClientTransport {
  close(): Promise<void>
}

/**
 * Calls over the admin socket. `waitMs`: how long a refused dial is tried again, for a gateway that is still starting.
 * Throws `GatewayNotRunning`. Built on `request`, since undici's `fetch` sends `sec-fetch-mode`, a browser's sign.
 */
export function openSocketTransport(socketPath: string, options: { waitMs: number }): SocketTransport {
  // A tail may be silent for ever, so no limit of the library's own.
  const agent = new Agent({ connect: { socketPath }, headersTimeout: 0, bodyTimeout: 0 })
  return {
    url: `http://${socketHost}/api`,
    fetch: (request) => send(request, agent, socketPath, options.waitMs),
    close: () => agent.destroy(),
  }
}

async function send(request: Request, agent: Agent, socketPath: string, waitMs: number): Promise<Response> {
  const body = await request.text()
  // Counted in pauses, as for plain calls.
  for (let left = waitMs; ; left -= retryMs) {
    try {
      return await sendOnce(request, body, agent)
    } catch (error) {
      if (!isDialFailure(error)) throw error
      if (left <= 0) throw new GatewayNotRunning(socketPath, error)
      await pause(retryMs, undefined, { signal: request.signal })
    }
  }
}

async function sendOnce(request: Request, body: string, agent: Agent): Promise<Response> {
  const url = new URL(request.url)
  const answer = await agent.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method: request.method === 'GET' ? 'GET' : 'POST',
    headers: Object.fromEntries(request.headers),
    body: body === '' ? null : body,
    signal: request.signal,
  })
  underWay.add(request)
  answer.body.once('close', () => underWay.delete(request))
  const headers = new Headers()
  for (const [name, value] of Object.entries(answer.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  return new Response(Readable.toWeb(answer.body), { status: answer.statusCode, headers })
}

function isDialFailure(error: unknown): boolean {
  const code = errorCode(error)
  return code === 'ENOENT' || code === 'ECONNREFUSED'
}
