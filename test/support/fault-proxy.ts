import { connect, createServer, type Server, type Socket } from 'node:net'

/** What the network does: passes, refuses and cuts, or swallows all that is sent without a word. */
type Behaviour = 'pass' | 'cut' | 'swallow'

/** Stands between a node and its PostgreSQL, and fails as it is told. */
export class FaultProxy {
  readonly #server: Server
  readonly #pairs = new Set<[Socket, Socket]>()
  #behaviour: Behaviour = 'pass'
  port = 0

  private constructor(target: number) {
    this.#server = createServer((near) => this.#accept(near, target))
  }

  static async start(target: number): Promise<FaultProxy> {
    const proxy = new FaultProxy(target)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    const address = proxy.#server.address()
    proxy.port = typeof address === 'object' && address !== null ? address.port : 0
    return proxy
  }

  become(behaviour: Behaviour): void {
    this.#behaviour = behaviour
    for (const [near, far] of this.#pairs) {
      if (behaviour === 'cut') for (const socket of [near, far]) socket.destroy()
      else if (behaviour === 'swallow') for (const socket of [near, far]) socket.unpipe().resume()
      // What was swallowed is gone: such a connection is no longer one.
      else for (const socket of [near, far]) socket.destroy()
    }
  }

  async close(): Promise<void> {
    this.become('cut')
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #accept(near: Socket, target: number): void {
    near.on('error', () => {})
    if (this.#behaviour === 'cut') return void near.destroy()
    if (this.#behaviour === 'swallow') return void near.resume()
    const far = connect(target, '127.0.0.1')
    const pair: [Socket, Socket] = [near, far]
    this.#pairs.add(pair)
    near.pipe(far)
    far.pipe(near)
    far.on('error', () => near.destroy())
    for (const socket of pair)
      socket.on('close', () => {
        this.#pairs.delete(pair)
        for (const other of pair) other.destroy()
      })
  }
}
