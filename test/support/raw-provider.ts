import net, { type Socket } from 'node:net'
import { listen } from './listen.ts'

/** A provider on a bare socket, in all three formats. */
export interface RawProvider {
  providers: { kind: string; baseUrl: string }[]
  /** What it does with the next call, whose head has come. */
  act: (socket: Socket) => unknown
  close(): void
}

export async function startRawProvider(): Promise<RawProvider> {
  const sockets = new Set<Socket>()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    socket.once('data', () => {
      provider.act(socket)
      socket.resume()
    })
  })
  const origin = await listen(server)
  const provider: RawProvider = {
    providers: [
      { kind: 'openai', baseUrl: `${origin}/v1` },
      { kind: 'anthropic', baseUrl: origin },
      { kind: 'gemini', baseUrl: origin },
    ],
    act: (socket) => socket.destroy(),
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
  return provider
}
