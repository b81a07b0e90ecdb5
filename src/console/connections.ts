import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf, plainAddress } from '../sign-in/network.ts'

/** Connections of nobody who is known, from one network: a browser opens six, and several people may share an address. */
const mostOfNetwork = 48
/** Of everybody. */
const mostOfAll = 512

interface Connection {
  socket: Socket
  network: string
  /** So many answers are being given to somebody who is signed in or has a token. */
  known: number
}

/**
 * Who is connected. Where there are too many, the one that has waited longest without anybody known behind it makes room:
 * so whoever holds connections open with half a head, or half a body, only loses his own.
 */
export class Connections {
  /** By the other end, in the order in which they came; TLS has sockets of its own on the same one. */
  readonly #open = new Map<string, Connection>()
  readonly #isProxy: (address: string) => boolean

  constructor(isProxy: (address: string) => boolean) {
    this.#isProxy = isProxy
  }

  take(socket: Socket): void {
    const address = plainAddress(socket.remoteAddress)
    const network = networkOf(address)
    const strangers = [...this.#open.values()].filter(({ known }) => known === 0)
    const near = this.#isProxy(address) ? [] : strangers.filter((each) => each.network === network)
    if (near.length >= mostOfNetwork) this.#drop(near[0])
    else if (this.#open.size >= mostOfAll) {
      if (strangers.length === 0) return void socket.destroy()
      this.#drop(strangers[0])
    }
    const end = endOf(socket)
    this.#open.set(end, { socket, network, known: 0 })
    socket.once('close', () => this.#open.delete(end))
  }

  /** Somebody known is being answered. */
  know(response: ServerResponse): void {
    const { socket } = response
    const connection = socket === null ? undefined : this.#open.get(endOf(socket))
    if (connection === undefined) return
    connection.known++
    response.once('close', () => connection.known--)
  }

  #drop(connection: Connection | undefined): void {
    if (connection === undefined) return
    this.#open.delete(endOf(connection.socket))
    connection.socket.destroy()
  }
}

function endOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
