import { chmodSync, chownSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { dirname } from 'node:path'
import { errorStatus, type OperationErrorCode } from './contract/error-status.ts'
import { socketHost } from './contract/socket-host.ts'
import type { Dispatcher } from './dispatch.ts'
import type { AdminParts, OperationCaller } from './handlers/context.ts'
import { lazyDispatcher } from './lazy-dispatcher.ts'
import { clearSocketPath, findGroup, processHeader } from './socket-file.ts'

export interface AdminServerOptions {
  /** At most 103 bytes, else the system cuts it; a named pipe on Windows. */
  socketPath: string
  /** Whose members may use it too (mode 0660), by name or number; null: the owner alone (0600). */
  socketGroup: string | null
  /** The group may pass through it, where the socket is there. */
  dataDirectory: string
  version: string
}

export interface AdminServer {
  socketPath: string
  /** Lets calls in; those that came before have waited. `dispatcher`: one that other doors share. */
  open(parts: AdminParts, dispatcher?: () => Promise<Dispatcher>): void
  /** Where this machine reaches the gateway's listener, for probes; they are answered from the start. */
  nameListener(origin: string): void
  /** Ends streams, lets calls under way finish, and removes the socket. */
  close(): Promise<void>
}

/** How long calls under way may take once the server closes. */
const finishMs = 5000

/**
 * Takes the admin socket, first of all that a gateway takes: whoever holds it is the one gateway of its data directory.
 * Throws `AdminSocketRefused`.
 */
export async function startAdminServer(options: AdminServerOptions): Promise<AdminServer> {
  const { socketPath, version } = options
  const groupId = options.socketGroup === null ? null : findGroup(options.socketGroup)
  if (process.platform !== 'win32') await clearSocketPath(socketPath)
  const closing = new AbortController()
  const opened = Promise.withResolvers<OpenedAdmin | null>()
  let listener: string | null = null
  const server = createServer((request, response) => {
    response.setHeader('x-spgw-version', version)
    response.setHeader(processHeader, String(process.pid))
    // A connection that falls idle while the server closes would keep it open until its client lets go.
    response.once('close', () => closing.signal.aborted && setImmediate(() => server.closeIdleConnections()))
    if (isProbe(request)) return sayAlive(response, listener)
    void answer(request, response, opened.promise, closing.signal)
  })
  // A tail may be silent for as long as it likes.
  server.requestTimeout = 0
  await listen(server, options, groupId)
  return {
    socketPath,
    open: (parts, dispatcher = lazyDispatcher(parts)) => opened.resolve({ dispatcher, onFault: parts.onFault }),
    nameListener(origin) {
      listener = origin
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      opened.resolve(null)
      closing.abort()
      const timer = setTimeout(() => server.closeAllConnections(), finishMs)
      await closed
      clearTimeout(timer)
    },
  }
}

interface OpenedAdmin {
  dispatcher(): Promise<Dispatcher>
  onFault: AdminParts['onFault']
}

/** The mask holds while the socket is bound (which `listen` does at once), so that it is never open wider, not even for a moment. */
async function listen(
  server: Server,
  { socketPath, dataDirectory }: AdminServerOptions,
  groupId: number | null,
): Promise<void> {
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
  if (process.platform === 'win32' || groupId === null) return
  if (dirname(socketPath) === dataDirectory) letThrough(dataDirectory, groupId)
  chownSync(socketPath, -1, groupId)
  chmodSync(socketPath, 0o660)
}

/**
 * A data directory is closed to all but its owner, and so would its socket be: the group may pass, and list nothing. Any other directory
 * is not the gateway's to open: it may be root's home, or the user's `$XDG_RUNTIME_DIR`.
 */
function letThrough(directory: string, groupId: number): void {
  const { mode, uid } = statSync(directory)
  // One that another group may pass through was named in the settings before.
  if ((mode & 0o077 & ~0o010) !== 0 || uid !== process.getuid?.()) return
  chownSync(directory, -1, groupId)
  chmodSync(directory, 0o710)
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  opened: Promise<OpenedAdmin | null>,
  closing: AbortSignal,
): Promise<void> {
  const reason = refusal(request)
  if (reason !== null)
    return refuse(response, 'refused', reason, 'Use the spgw command; the console is the place for browsers.')
  if (request.url?.startsWith('/api/') !== true)
    return refuse(response, 'not_found', 'Page not found.', 'Operations are under /api/.')
  const admin = await opened
  if (admin === null) return refuse(response, 'degraded', 'The gateway is stopping.', 'Start it again: spgw serve')
  try {
    const dispatcher = await admin.dispatcher()
    if (await dispatcher.dispatch(request, response, localOwner(request), closing)) return
  } catch (error) {
    admin.onFault(error, 'admin')
    response.destroy()
    return
  }
  refuse(
    response,
    'not_found',
    'There is no such operation.',
    'It may be newer than this gateway: compare spgw version.',
  )
}

/** `spgw health`: a gateway that takes long to start, or to stop, is alive. */
function isProbe(request: IncomingMessage): boolean {
  return request.method === 'GET' && request.url === '/healthz' && refusal(request) === null
}

function sayAlive(response: ServerResponse, listener: string | null): void {
  response.writeHead(200, { 'content-type': 'application/json', connection: 'close' })
  response.end(JSON.stringify({ status: 'alive', listener }))
}

/**
 * A page can make a browser send almost anything to a local port, and a forwarded socket is one; but the browser then
 * says so. Any such sign is enough, and the host's name is one that no page can use.
 */
function refusal({ headers }: IncomingMessage): string | null {
  if (headers.origin !== undefined || headers.referer !== undefined) return 'The request came from a browser.'
  if (Object.keys(headers).some((name) => name.startsWith('sec-fetch-'))) return 'The request came from a browser.'
  return headers.host === socketHost ? null : `The admin socket answers to the host ${socketHost} only.`
}

function refuse(response: ServerResponse, code: OperationErrorCode, message: string, hint: string): void {
  const status = errorStatus[code]
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
  response.end(JSON.stringify({ defined: true, code, status, message, data: { hint } }))
}

/** Whoever may open the socket is the owner of the gateway. The surface is the client's word, for the audit only. */
function localOwner({ headers }: IncomingMessage): OperationCaller {
  const named = headers['x-spgw-surface']
  const surface = named === 'cli' || named === 'tui' ? named : 'api'
  return { name: 'local owner', surface, id: null, grants: [{ project: null, role: 'owner' }] }
}
