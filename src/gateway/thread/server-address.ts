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
  readonly hint = 'Stop what listens there, or choose another address: spgw serve --listen HOST:PORT'

  constructor(host: string, port: number, cause: NodeJS.ErrnoException) {
    super(`cannot listen on ${host}:${port}: ${cause.code === 'EADDRINUSE' ? 'it is in use' : cause.message}`, {
      cause,
    })
    this.name = 'AddressTaken'
  }
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
