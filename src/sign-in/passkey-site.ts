import { isIP } from 'node:net'

/** What a passkey is made for; it works nowhere else. */
export interface PasskeySite {
  /** The host's name, without a port. */
  id: string
  origin: string
}

/** Why there are no passkeys at an origin, in a sentence; else the site. Browsers know them for names only. */
export function passkeySite(origin: string, openness: string | null): PasskeySite | { refused: string } {
  if (openness !== null) return { refused: openness }
  const { hostname, port, protocol } = new URL(origin)
  if (isIP(hostname.replace(/^\[|\]$/g, '')) === 0) return { id: hostname, origin }
  const local = hostname === '[::1]' || hostname.startsWith('127.')
  const other = local ? `at ${protocol}//localhost${port === '' ? '' : `:${port}`}` : 'by a name'
  return { refused: `Passkeys require a host name, not an IP address: open the console ${other}.` }
}
