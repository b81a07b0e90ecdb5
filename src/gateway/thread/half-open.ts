import type { Socket } from 'node:net'

/** So long a connection is left alone. A burst, of a proxy too, is taken in at once and read afterwards. */
const graceMs = 1000

interface HalfOpen {
  socket: Socket
  since: number
}

/**
 * Connections whose first request has not come whole yet, by address. Of one address so many are kept; one more ends the oldest, which had
 * the most time for its head, unless that is as new as a burst: whoever opens connections and sends nothing takes the room of nobody else.
 */
export class HalfOpenConnections {
  /** How many there are. */
  count = 0
  readonly #byAddress = new Map<string, Map<number, HalfOpen>>()

  add(socket: Socket, most: number): void {
    const { remoteAddress: address, remotePort: port } = socket
    if (address === undefined || port === undefined) return
    const open = this.#byAddress.get(address) ?? new Map<number, HalfOpen>()
    this.#byAddress.set(address, open)
    const now = performance.now()
    if (!open.has(port)) this.count++
    open.set(port, { socket, since: now })
    if (open.size > most) this.#end(address, open, now)
    socket.once('close', () => this.#forget(address, port))
  }

  /** Its request has come. `socket` may be the TLS socket on it. */
  remove({ remoteAddress, remotePort }: Socket): void {
    if (remoteAddress !== undefined && remotePort !== undefined) this.#forget(remoteAddress, remotePort)
  }

  /** Two for each that comes, so that what a burst left behind is worked off. */
  #end(address: string, open: Map<number, HalfOpen>, now: number): void {
    let left = 2
    for (const [port, { socket, since }] of open) {
      if (left-- === 0 || now - since < graceMs) return
      this.#forget(address, port)
      socket.destroy()
    }
  }

  #forget(address: string, port: number): void {
    const open = this.#byAddress.get(address)
    if (open === undefined || !open.delete(port)) return
    this.count--
    if (open.size === 0) this.#byAddress.delete(address)
  }
}
