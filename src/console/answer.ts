import type { IncomingMessage, ServerResponse } from 'node:http'
import { stylePolicy } from './page-frame.ts'

export interface Reply {
  status: number
  type: string
  body: string
  headers?: Record<string, string>
}

const plain = 'text/plain; charset=utf-8'

/** Nothing of the console is kept, framed, sniffed, or told of elsewhere; a page runs no script and loads nothing. */
const guards = {
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src ${stylePolicy}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

export function text(status: number, sentence: string): Reply {
  return { status, type: plain, body: `${sentence}\n` }
}

export function html(status: number, body: string): Reply {
  return { status, type: 'text/html; charset=utf-8', body }
}

export function json(status: number, value: object): Reply {
  return { status, type: 'application/json', body: `${JSON.stringify(value)}\n` }
}

/** In the shape of an operation's error, so that a client of the contract reads it; but none of the contract's codes. */
export function apiRefusal(): Reply {
  const message = 'Signing in to the console is not part of this version, so its API is closed.'
  const hint = 'Use the spgw command on the machine of the gateway: spgw --help'
  return json(401, { defined: false, code: 'sign_in_unavailable', status: 401, message, data: { hint } })
}

export function send(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  const bytes = Buffer.from(reply.body)
  // A body that came along is not read; only the end of the connection stops it.
  const hasBody = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined
  response.writeHead(reply.status, {
    ...guards,
    ...reply.headers,
    'content-type': reply.type,
    'content-length': bytes.length,
    ...(hasBody ? { connection: 'close' } : {}),
  })
  response.end(request.method === 'HEAD' ? undefined : bytes)
}
