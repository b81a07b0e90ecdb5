import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf, plainAddress } from '../sign-in/network.ts'

/** Unauthenticated connections from one network: a browser opens six, and several people may share an address. */
const maxPerNetwork = 48
/** In all. */
const maxConnections = 512

interface ConsoleConnection {
  socket: Socket
  network: string
  /** Number of responses in progress to authenticated clients. */
  authenticated: number
}

/**
 * The open connections. Where there are too many, the oldest unauthenticated one is closed. So a client that holds
 * connections open with incomplete requests only loses its own.
 */
export class Connections {
  /** By remote address and port, oldest first. The key is not the socket: TLS wraps it in another one. */
  readonly #open = new Map<string, ConsoleConnection>()
  readonly #isProxy: (address: string) => boolean

  constructor(isProxy: (address: string) => boolean) {
    this.#isProxy = isProxy
  }

  accept(socket: Socket): void {
    const address = plainAddress(socket.remoteAddress)
    const network = networkOf(address)
    const unauthenticated = [...this.#open.values()].filter(({ authenticated }) => authenticated === 0)
    const near = this.#isProxy(address) ? [] : unauthenticated.filter((each) => each.network === network)
    if (near.length >= maxPerNetwork) this.#drop(near[0])
    else if (this.#open.size >= maxConnections) {
      if (unauthenticated.length === 0) return void socket.destroy()
      this.#drop(unauthenticated[0])
    }
    const key = keyOf(socket)
    this.#open.set(key, { socket, network, authenticated: 0 })
    socket.once('close', () => this.#open.delete(key))
  }

  /** Protects the connection for as long as this response lasts. */
  markAuthenticated(response: ServerResponse): void {
    const { socket } = response
    const connection = socket === null ? undefined : this.#open.get(keyOf(socket))
    if (connection === undefined) return
    connection.authenticated++
    response.once('close', () => connection.authenticated--)
  }

  #drop(connection: ConsoleConnection | undefined): void {
    if (connection === undefined) return
    this.#open.delete(keyOf(connection.socket))
    connection.socket.destroy()
  }
}

function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
