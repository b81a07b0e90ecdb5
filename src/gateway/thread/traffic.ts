import type { Socket } from 'node:net'
import type { Gateway } from '../gateway.ts'
import type { Arrival } from '../request/arrival.ts'
import { type ListMember, LiveList } from './deadlines.ts'
import { PipelinedRequests } from './pipelined-requests.ts'

export interface ClientConnection extends ListMember {
  readonly socket: Socket
}

/** What is open on one data-plane thread, for draining and for ending the requests of a revoked key. */
export class Traffic {
  readonly gateway: Gateway
  readonly requests = new LiveList<Arrival>()
  readonly connections = new LiveList<ClientConnection>()
  readonly halfOpen = new HalfOpenConnections()
  readonly pipelined = new PipelinedRequests()
  /** Connections that took one of the last descriptors: each gets one answer, which says so. */
  readonly scarce = new Set<Socket>()
  /** A request that arrives while the listener closes begins once this has resolved. */
  paused: Promise<void> | null = null

  constructor(gateway: Gateway) {
    this.gateway = gateway
  }

  /** Open requests on a connection: with pipelining, there may be several. */
  requestsOn(socket: Socket): Arrival[] {
    return this.requests.all().filter(({ request }) => request.socket === socket)
  }
}

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
class HalfOpenConnections {
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
