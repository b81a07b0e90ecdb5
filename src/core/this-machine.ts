/** A URL's host name that leads to this machine only: nobody listens between, so that it may do without HTTPS. */
export function isThisMachine(hostname: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}
