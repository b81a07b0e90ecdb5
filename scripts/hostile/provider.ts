import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'

export type Answer = (response: ServerResponse, request: IncomingMessage) => void | Promise<void>

/** Does to each call what the case at hand says. */
export class HostileProvider {
  answer: Answer = plainAnswer
  onSocket: (socket: WebSocket) => void = () => {}
  readonly #server = http.createServer((request, response) => {
    response.on('error', () => {})
    request.on('error', () => {}).resume()
    request.once('end', () => void Promise.resolve(this.answer(response, request)).catch(() => response.destroy()))
  })
  readonly #sockets = new WebSocketServer({ server: this.#server, maxPayload: 2 ** 30 })

  async listen(): Promise<this> {
    this.#sockets.on('connection', (socket) => {
      socket.on('error', () => {})
      this.onSocket(socket)
    })
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  reset(): void {
    this.answer = plainAnswer
    this.onSocket = () => {}
  }

  close(): void {
    for (const socket of this.#sockets.clients) socket.terminate()
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

/** An answer to every call, and what a provider's check wants: a list of models. */
export function plainAnswer(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(
    '{"id":"x-1","object":"list","data":[{"id":"m"}],"models":[{"name":"models/m"}],"choices":[],"usage":{"prompt_tokens":1}}',
  )
}
