import type { Dispatcher } from 'undici'
import { evaluateHost } from './address-guard.ts'
import type { EgressOptions } from './contract.ts'
import { connectOptions, DestinationRejected, trustOf } from './http-connect.ts'
import type { ChosenProxy } from './proxy-choice.ts'

/** undici takes any iterable as a body, though its types do not say so. */
type Options = Omit<Dispatcher.DispatchOptions, 'body'> & {
  body?: Dispatcher.DispatchOptions['body'] | Iterable<Buffer>
}
type Handler = Dispatcher.DispatchHandler

/** What takes calls to one origin: a pool, or a proxy on the way to it. */
export interface Dispatching {
  dispatch(options: Options, handler: Handler): unknown
  close(): Promise<void>
  destroy(): Promise<void>
}

/** undici's own proxy agent, loaded with the first call through a proxy: a tunnel to https, absolute URLs for http. */
export class ProxiedOrigin implements Dispatching {
  readonly #origin: string
  readonly #agent: Promise<Dispatching>

  /** `limits`: what a pool without a proxy has of them. Throws `DestinationRejected`. */
  constructor(origin: string, proxy: ChosenProxy, egress: EgressOptions | null, limits: Record<string, unknown>) {
    // The name is resolved beyond the proxy: only what stands in it can be judged here.
    const { refused } = evaluateHost(new URL(origin).hostname, true)
    if (refused !== null) throw new DestinationRejected(refused)
    this.#origin = origin
    const proxyTls = connectOptions(proxy.url, egress, proxy.trusted)
    this.#agent = openAgent({ ...limits, uri: proxy.url, proxyTls, requestTls: trustOf(egress) })
  }

  dispatch(options: Options, handler: Handler): void {
    void this.#agent.then((agent) =>
      agent.dispatch({ ...options, origin: this.#origin, headers: mergeHeaders(options.headers as string[]) }, handler),
    )
  }

  async close(): Promise<void> {
    await (await this.#agent).close()
  }

  async destroy(): Promise<void> {
    await (await this.#agent).destroy()
  }
}

async function openAgent(options: Record<string, unknown> & { uri: string }): Promise<Dispatching> {
  const { ProxyAgent, Pool, connect } = await import('./http-proxy-agent.ts')
  return new ProxyAgent({
    ...options,
    // undici's index puts its methods on every dispatcher; the agent needs this one.
    clientFactory: (origin, more) => Object.assign(new Pool(origin, more), { connect }),
  })
}

/** The agent makes an object of them, in which a name stands once. */
function mergeHeaders(headers: readonly string[]): string[] {
  const merged = new Map<string, string>()
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? ''
    const before = merged.get(name)
    merged.set(name, before === undefined ? (headers[index + 1] ?? '') : `${before}, ${headers[index + 1]}`)
  }
  return [...merged].flat()
}
