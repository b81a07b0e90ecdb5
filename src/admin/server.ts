import { chmodSync, chownSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { socketHost } from './contract/socket-host.ts'
import { createDispatcher, type Dispatcher } from './dispatch.ts'
import type { AdminParts, Caller } from './handlers/context.ts'
import { clearSocketPath } from './socket-file.ts'

export interface AdminServerOptions {
  /** At most 103 bytes, else the system cuts it; a named pipe on Windows. */
  socketPath: string
  /** 0o600, or 0o660 with a group. */
  mode: number
  /** Owner of the socket's group; null leaves it. */
  groupId: number | null
  parts: AdminParts
  version: string
}

export interface AdminServer {
  socketPath: string
  /** Ends streams, lets calls under way finish, and removes the socket. */
  close(): Promise<void>
}

/** Serves the operations on the admin socket. Throws `AdminSocketTaken`. */
export async function startAdminServer(options: AdminServerOptions): Promise<AdminServer> {
  const { socketPath, version } = options
  if (process.platform !== 'win32') await clearSocketPath(socketPath)
  const closing = new AbortController()
  const dispatcher = createDispatcher(options.parts)
  const server = createServer((request, response) => {
    response.setHeader('x-spgw-version', version)
    answer(dispatcher, request, response, closing.signal).catch((error: unknown) => {
      options.parts.onFault(error, 'admin')
      response.destroy()
    })
  })
  // A tail may be silent for as long as it likes.
  server.requestTimeout = 0
  await listen(server, options)
  return {
    socketPath,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      closing.abort()
      server.closeIdleConnections()
      await closed
    },
  }
}

/** The mask holds while the socket is bound (which `listen` does at once), so that it is never open wider, not even for a moment. */
async function listen(server: Server, { socketPath, mode, groupId }: AdminServerOptions): Promise<void> {
  const listening = new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.once('listening', resolve)
  })
  const mask = process.umask(0o177)
  try {
    server.listen(socketPath)
  } finally {
    process.umask(mask)
  }
  await listening
  if (process.platform === 'win32') return
  if (groupId !== null) chownSync(socketPath, -1, groupId)
  chmodSync(socketPath, mode)
}

async function answer(
  dispatcher: Dispatcher,
  request: IncomingMessage,
  response: ServerResponse,
  closing: AbortSignal,
): Promise<void> {
  const reason = refusal(request)
  if (reason !== null)
    return refuse(response, 403, reason, 'Use the spgw command; the console is the place for browsers.')
  if (await dispatcher.dispatch(request, response, localOwner(request), closing)) return
  refuse(response, 404, 'There is no such operation.', 'It may be newer than this gateway: compare spgw version.')
}

/**
 * A page can make a browser send almost anything to a local port, and a forwarded socket is one; but the browser then
 * says so. Any such sign is enough, and the host's name is one that no page can use.
 */
function refusal({ headers }: IncomingMessage): string | null {
  if (headers.origin !== undefined || headers.referer !== undefined) return 'A browser sent this.'
  if (Object.keys(headers).some((name) => name.startsWith('sec-fetch-'))) return 'A browser sent this.'
  return headers.host === socketHost ? null : `The admin socket answers to the host ${socketHost} only.`
}

function refuse(response: ServerResponse, status: number, message: string, hint: string): void {
  const code = status === 404 ? 'not_found' : 'refused'
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
  response.end(JSON.stringify({ defined: false, code, status, message, data: { hint } }))
}

/** Whoever may open the socket is the owner of the gateway. The surface is the client's word, for the audit only. */
function localOwner({ headers }: IncomingMessage): Caller {
  const named = headers['x-spgw-surface']
  const surface = named === 'cli' || named === 'tui' ? named : 'api'
  return { name: 'local owner', surface, role: 'owner' }
}
