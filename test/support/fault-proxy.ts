import { connect, createServer, type Server, type Socket } from 'node:net'

/**
 * What the network does: passes; refuses and cuts; swallows all that is sent without a word; or only what the node sends
 * (`mute`), or only what it is answered (`deaf`).
 */
export type Behaviour = 'pass' | 'cut' | 'swallow' | 'mute' | 'deaf'

interface Pair {
  near: Socket
  far: Socket
}

/** Stands between a node and its PostgreSQL or Valkey, and fails as it is told. */
export class FaultProxy {
  readonly #server: Server
  readonly #pairs = new Set<Pair>()
  #behaviour: Behaviour = 'pass'
  #target: number
  port = 0

  private constructor(target: number) {
    this.#target = target
    this.#server = createServer((near) => this.#accept(near))
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
    for (const pair of this.#pairs) {
      // What was swallowed is gone: such a connection is no longer one.
      if (behaviour === 'cut' || behaviour === 'pass') end(pair)
      else swallow(pair, behaviour)
    }
  }

  /** As when a name leads to another server: what is connected ends. */
  leadTo(target: number): void {
    this.#target = target
    for (const pair of this.#pairs) end(pair)
  }

  async close(): Promise<void> {
    this.become('cut')
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #accept(near: Socket): void {
    near.on('error', () => {})
    if (this.#behaviour === 'cut') return void near.destroy()
    if (this.#behaviour === 'swallow') return void near.resume()
    const far = connect(this.#target, '127.0.0.1')
    const pair: Pair = { near, far }
    this.#pairs.add(pair)
    near.pipe(far)
    far.pipe(near)
    far.on('error', () => near.destroy())
    for (const socket of [near, far])
      socket.on('close', () => {
        this.#pairs.delete(pair)
        end(pair)
      })
    if (this.#behaviour !== 'pass') swallow(pair, this.#behaviour)
  }
}

function end({ near, far }: Pair): void {
  for (const socket of [near, far]) socket.destroy()
}

function swallow({ near, far }: Pair, behaviour: Behaviour): void {
  if (behaviour !== 'deaf') near.unpipe().resume()
  if (behaviour !== 'mute') far.unpipe().resume()
}
