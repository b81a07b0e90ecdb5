import type { IncomingMessage, ServerResponse } from 'node:http'

export interface Reply {
  status: number
  type: string
  body: string | Uint8Array
  headers?: Record<string, string | string[]>
}

const plain = 'text/plain; charset=utf-8'

/**
 * Nothing of the console is kept, framed, sniffed, or told of elsewhere. What its page loads is its own, and nothing is
 * inline; `data:` is for its icon.
 */
export const guards = {
  'cache-control': 'no-store',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

export function text(status: number, sentence: string): Reply {
  return { status, type: plain, body: `${sentence}\n` }
}

export function json(status: number, value: object): Reply {
  return { status, type: 'application/json', body: `${JSON.stringify(value)}\n` }
}

/** In the shape of an operation's error, so that a client of the contract reads it; but none of the contract's codes. */
export function apiRefusal(status: number, code: string, message: string, hint: string): Reply {
  return json(status, { defined: false, code, status, message, data: { hint } })
}

/** The host's name is none of the console's (`visit.ts`). */
export function refuseHost(path: string): Reply {
  const cause = 'The console does not answer to this name.'
  const hint = 'Open it by the address that spgw serve shows, or set console.url to the one that you use.'
  return /^\/(auth|api)\//.test(path) ? apiRefusal(421, 'refused', cause, hint) : text(421, `${cause} ${hint}`)
}

export function send(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  const bytes = Buffer.from(reply.body)
  // A body that came along and was not read: only the end of the connection stops it.
  const hasBody = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined
  response.writeHead(reply.status, {
    ...guards,
    ...reply.headers,
    'content-type': reply.type,
    'content-length': bytes.length,
    ...(hasBody && !request.complete ? { connection: 'close' } : {}),
  })
  response.end(request.method === 'HEAD' ? undefined : bytes)
}
