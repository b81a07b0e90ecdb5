import type { IncomingMessage, RequestOptions } from 'node:http'
import { errorCode } from '../core/caught.ts'
import { socketHost } from './contract/socket-host.ts'

/** How a gateway is, as a probe needs it. */
export interface ProbeResult {
  ok: boolean
  state: 'alive' | 'ready' | 'not ready' | 'draining' | 'starting' | 'not running' | 'no answer'
  /** Why it is not; empty is well. */
  reasons: string[]
  /** Its listener, as this machine reaches it; null: not known. */
  listener: string | null
}

interface ProbeAnswer {
  status: number
  body: unknown
}

/**
 * Asks the process at the admin socket, then, unless `onlyLive`, its listener's `/readyz`. Both are on this machine, and
 * the certificate of a listener that the process named itself proves nothing more. Never rejects.
 */
export async function askHealth(socketPath: string, onlyLive: boolean, timeoutMs: number): Promise<ProbeResult> {
  const signal = AbortSignal.timeout(timeoutMs)
  let listener: string | null = null
  try {
    const alive = await get({ socketPath, host: socketHost, servername: '', path: '/healthz' }, 'http:', signal)
    const named = memberOf(alive.body, 'listener')
    listener = typeof named === 'string' ? named : null
    if (alive.status !== 200) return unwell('no answer', `the admin socket answered ${alive.status}`, null)
    if (onlyLive) return { ok: true, state: 'alive', reasons: [], listener }
    if (listener === null) return unwell('starting', 'the gateway is starting', null)
    const { protocol, hostname, port } = new URL(listener)
    // As a URL writes an IPv6 address, no resolver knows it.
    const host = hostname.replace(/^\[(.*)\]$/, '$1')
    return read(await get({ host, port, path: '/readyz' }, protocol, signal), listener)
  } catch (error) {
    return explain(error, socketPath, listener, timeoutMs)
  }
}

async function get(
  address: RequestOptions & { servername?: string },
  protocol: string,
  signal: AbortSignal,
): Promise<ProbeAnswer> {
  const { request } = protocol === 'https:' ? await import('node:https') : await import('node:http')
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const asked = request({ ...address, method: 'GET', agent: false, rejectUnauthorized: false, signal })
  asked.once('response', resolve)
  asked.once('error', reject)
  asked.end()
  const answer = await promise
  const pieces: Buffer[] = []
  for await (const piece of answer) pieces.push(piece)
  return { status: answer.statusCode ?? 0, body: parse(Buffer.concat(pieces).toString()) }
}

function read({ status, body }: ProbeAnswer, listener: string): ProbeResult {
  const said = memberOf(body, 'reasons')
  const reasons = Array.isArray(said) ? said.map(String) : []
  if (status === 200) return { ok: true, state: 'ready', reasons, listener }
  if (reasons.length === 0) reasons.push(`the listener answered ${status}`)
  return { ok: false, state: memberOf(body, 'status') === 'draining' ? 'draining' : 'not ready', reasons, listener }
}

function explain(error: unknown, socketPath: string, listener: string | null, timeoutMs: number): ProbeResult {
  const code = errorCode(error) ?? ''
  const name = error instanceof Error ? error.name : ''
  if (name === 'TimeoutError' || code === 'ABORT_ERR')
    return unwell('no answer', `no answer within ${timeoutMs} ms`, listener)
  // It refuses connections from the moment that it drains.
  if (listener !== null) return unwell('not ready', `the listener cannot be reached: ${code}`, listener)
  if (code === 'ENOENT' || code === 'ECONNREFUSED')
    return unwell('not running', `nothing listens at ${socketPath}`, null)
  return unwell('no answer', `the admin socket cannot be opened: ${code}`, null)
}

function unwell(state: ProbeResult['state'], reason: string, listener: string | null): ProbeResult {
  return { ok: false, state, reasons: [reason], listener }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/** An older gateway has no such page, and its answer is text. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
