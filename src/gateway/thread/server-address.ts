import { createServer } from 'node:net'
import { createSecureContext } from 'node:tls'
import { errorText } from '../../core/caught.ts'
import type { ServerCertificate } from './messages.ts'

/** Why TLS cannot be served with this certificate, as OpenSSL reports it; null: it can. */
export function certificateProblem({ cert, key }: Pick<ServerCertificate, 'cert' | 'key'>): string | null {
  try {
    createSecureContext({ cert, key })
    return null
  } catch (error) {
    return errorText(error)
  }
}

/** The gateway cannot listen on the address. */
export class AddressTaken extends Error {
  /** What to do, up to where the address is set. */
  readonly remedy: string
  readonly hint: string

  constructor(host: string, port: number, cause: NodeJS.ErrnoException) {
    super(`cannot listen on ${host}:${port}: ${cause.code === 'EADDRINUSE' ? 'it is in use' : cause.message}`, {
      cause,
    })
    this.name = 'AddressTaken'
    this.remedy = remedyOf(cause.code, port)
    this.hint = `${this.remedy}: spgw serve --listen HOST:PORT`
  }
}

function remedyOf(code: string | undefined, port: number): string {
  if (code === 'EADDRINUSE') return 'Stop the program that listens there, or choose another address'
  if (code === 'EACCES')
    return `Let every user listen there (sysctl net.ipv4.ip_unprivileged_port_start=${port}), put a proxy in front, or choose a port above 1023`
  return 'Choose an address of this machine, or 0.0.0.0 for all that it has'
}

/**
 * Binds the port exclusively for a moment: with `reusePort`, listening on a port that is in use would succeed silently. Returns the port,
 * chosen by the system for 0. Throws `AddressTaken`.
 */
export function claimPort(host: string, port: number): Promise<number> {
  const probe = createServer()
  return new Promise((resolve, reject) => {
    probe.once('error', (error: NodeJS.ErrnoException) => reject(new AddressTaken(host, port, error)))
    probe.listen({ host, port, exclusive: true }, () => {
      const address = probe.address()
      const bound = address !== null && typeof address === 'object' ? address.port : port
      probe.close(() => resolve(bound))
    })
  })
}
