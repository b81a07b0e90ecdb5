import type { IncomingMessage } from 'node:http'

/**
 * Browsers send the cookies of a host to all its ports. The name holds the port, so that two gateways on one machine do
 * not sign each other's operators out.
 */
export function cookieName(host: string, word = ''): string {
  const port = /:(\d+)$/.exec(host)?.[1]
  return `__Host-spgw${word === '' ? '' : `-${word}`}${port === undefined ? '' : `-${port}`}`
}

/** null if there are two cookies of this name: one of them was planted. */
export function readCookie({ headers }: IncomingMessage, name: string): string | null {
  const values = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
  return values.length === 1 ? (values[0] ?? '').slice(name.length + 1) : null
}

/** The prefix `__Host-` binds the cookie to this host and to HTTPS. `seconds` 0 removes it. */
export function writeCookie(name: string, value: string, seconds: number, sameSite: 'Strict' | 'Lax'): string {
  return `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; Secure; SameSite=${sameSite}`
}
