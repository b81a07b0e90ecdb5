import type { Socket } from 'node:net'

/** A new connection is left alone for this long. A burst, also one from a proxy, is accepted at once and read afterwards. */
const graceMs = 1000

interface HalfOpen {
  socket: Socket
  since: number
}

/**
 * Connections whose first request is incomplete, by address. Each address may have a limited number: one more ends the oldest, unless that
 * is as new as a burst. A client that opens connections and sends nothing only takes its own address's share.
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

  /** Its first request is complete. `socket` may be the TLS socket on top of it. */
  remove({ remoteAddress, remotePort }: Socket): void {
    if (remoteAddress !== undefined && remotePort !== undefined) this.#forget(remoteAddress, remotePort)
  }

  /** Two for each new connection, so that the rest of a burst is worked off. */
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
