import type { Socket } from 'node:net'

/**
 * Connections whose first request has not come whole yet, by address. Of one address so many are kept; one more ends the oldest, which had
 * the most time for its head: whoever opens connections and sends nothing takes the room of nobody else.
 */
export class HalfOpenConnections {
  readonly #byAddress = new Map<string, Map<number, Socket>>()

  add(socket: Socket, most: number): void {
    const { remoteAddress: address, remotePort: port } = socket
    if (address === undefined || port === undefined) return
    const open = this.#byAddress.get(address) ?? new Map<number, Socket>()
    this.#byAddress.set(address, open)
    open.set(port, socket)
    const [oldest] = open.values()
    if (open.size > most && oldest !== undefined) {
      this.#forget(address, oldest.remotePort ?? -1)
      oldest.destroy()
    }
    socket.once('close', () => this.#forget(address, port))
  }

  /** Its request has come. `socket` may be the TLS socket on it. */
  remove({ remoteAddress, remotePort }: Socket): void {
    if (remoteAddress !== undefined && remotePort !== undefined) this.#forget(remoteAddress, remotePort)
  }

  #forget(address: string, port: number): void {
    const open = this.#byAddress.get(address)
    if (open === undefined || !open.delete(port)) return
    if (open.size === 0) this.#byAddress.delete(address)
  }
}
