import type { IncomingMessage, ServerResponse } from 'node:http'

export interface Reply {
  status: number
  type: string
  body: string | Uint8Array
  headers?: Record<string, string | string[]>
}

const plain = 'text/plain; charset=utf-8'

/**
 * Responses are not cached, framed or sniffed, and send no referrer. The page loads only its own files and has nothing
 * inline; `data:` is for its icon.
 */
export const securityHeaders = {
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

export function textReply(status: number, sentence: string): Reply {
  return { status, type: plain, body: `${sentence}\n` }
}

export function jsonReply(status: number, value: object): Reply {
  return { status, type: 'application/json', body: `${JSON.stringify(value)}\n` }
}

/** In the shape of an operation's error, so that contract clients can read it, but with codes outside the contract. */
export function apiError(status: number, code: string, message: string, hint: string): Reply {
  return jsonReply(status, { defined: false, code, status, message, data: { hint } })
}

/** The `Host` is not one of the console's (`request-guard.ts`). */
export function rejectHost(path: string): Reply {
  const cause = 'The console is not served under this host name.'
  const hint = 'Open it at the address that spgw serve prints, or set console.url to the address that you use.'
  return /^\/(auth|api)\//.test(path) ? apiError(421, 'refused', cause, hint) : textReply(421, `${cause} ${hint}`)
}

export function sendReply(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  const bytes = Buffer.from(reply.body)
  // Only closing the connection stops a request body that was not read.
  const hasBody = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined
  response.writeHead(reply.status, {
    ...securityHeaders,
    ...reply.headers,
    'content-type': reply.type,
    'content-length': bytes.length,
    ...(hasBody && !request.complete ? { connection: 'close' } : {}),
  })
  response.end(request.method === 'HEAD' ? undefined : bytes)
}
