import type { Socket } from 'node:net'
import type { Gateway } from '../gateway.ts'
import type { Arrival } from '../request/arrival.ts'
import { type ListMember, LiveList } from './deadlines.ts'
import { HalfOpenConnections } from './half-open.ts'
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
