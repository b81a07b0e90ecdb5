import type { IncomingMessage } from 'node:http'

/**
 * Browsers send a host's cookies to all its ports, so a port that is not the usual one stands in the name: two gateways on
 * one machine do not sign each other's operators out.
 */
export function cookieName(host: string, word = ''): string {
  const port = /:(\d+)$/.exec(host)?.[1]
  return `__Host-spgw${word === '' ? '' : `-${word}`}${port === undefined ? '' : `-${port}`}`
}

/** Of two cookies of one name neither counts: one of them was planted. */
export function readCookie({ headers }: IncomingMessage, name: string): string | null {
  const values = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
  return values.length === 1 ? (values[0] ?? '').slice(name.length + 1) : null
}

/** `__Host-` holds it to this very host, over a connection that nobody reads along. `seconds` 0 removes it. */
export function writeCookie(name: string, value: string, seconds: number, sameSite: 'Strict' | 'Lax'): string {
  return `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; Secure; SameSite=${sameSite}`
}
