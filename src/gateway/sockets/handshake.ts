import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { WebSocketServer } from 'ws'
import { type Fault, fault } from '../../core/errors.ts'
import { HeldSocket, Peer, socketOptions } from '../../providers/socket-peer.ts'

/** The only subprotocol that the vendors' SDKs ask for, apart from those that carry a key. */
const protocol = 'realtime'

/** What is wrong with a handshake, to be rejected in the lane's words; null: it is valid. Source: RFC 6455, 4.2.1. */
export function checkHandshake({ headers }: IncomingMessage): Fault | null {
  const key = headers['sec-websocket-key']
  if (key === undefined || !/^[+/0-9A-Za-z]{22}==$/.test(key))
    return fault('invalid_request', 'The WebSocket handshake has no valid Sec-WebSocket-Key.')
  if (headers['sec-websocket-version'] !== '13')
    return fault('invalid_request', 'Only version 13 of the WebSocket protocol is spoken here.')
  const offered = headers['sec-websocket-protocol']?.split(',').map((each) => each.trim()) ?? []
  if (new Set(offered).size < offered.length || !offered.every((each) => /^[\w!#$%&'*+.^`|~-]+$/.test(each)))
    return fault('invalid_request', 'Sec-WebSocket-Protocol must list words, each once.')
  return null
}

export interface SocketUpgrade {
  request: IncomingMessage
  socket: Socket
  /** Bytes that followed the handshake. */
  head: Buffer
}

/** Answers 101. `maxFrame`: the largest message in bytes. Null: the client has disconnected. */
export function acceptHandshake(upgrade: SocketUpgrade, headers: readonly string[], maxFrame: number): Peer | null {
  const server = new WebSocketServer({
    ...socketOptions,
    noServer: true,
    clientTracking: false,
    maxPayload: maxFrame,
    WebSocket: HeldSocket,
    handleProtocols: (offered) => offered.has(protocol) && protocol,
  })
  server.once('headers', (lines: string[]) => {
    for (let index = 0; index + 1 < headers.length; index += 2) lines.push(`${headers[index]}: ${headers[index + 1]}`)
  })
  let peer: Peer | null = null
  // Calls back synchronously, or never.
  server.handleUpgrade(upgrade.request, upgrade.socket, upgrade.head, (socket) => {
    peer = new Peer(socket as HeldSocket, upgrade.socket)
  })
  return peer
}
