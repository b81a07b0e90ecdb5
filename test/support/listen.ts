import type { Server as HttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'

/** Lets the server listen on a free port of this machine. Returns that port. */
export async function listenOnPort(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** The same. Returns the server's origin, such as `http://127.0.0.1:49152`. */
export async function listen(server: Server): Promise<string> {
  return `http://127.0.0.1:${await listenOnPort(server)}`
}

/** Does not wait for open connections to end. */
export function closeServer(server: HttpServer): void {
  server.closeAllConnections()
  server.close()
}
