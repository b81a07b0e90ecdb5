import type { LaneUrls } from '../../lanes/contract.ts'
import type { Call } from '../request/call.ts'
import type { LiveProvider } from '../thread/read-model.ts'

/** The lane's URL as this client sees it, and as the provider does. */
export function laneUrls(call: Call, provider: LiveProvider): LaneUrls {
  return new CallUrls(call, provider)
}

/** Computed only when needed: few bodies contain a URL of the provider. */
class CallUrls implements LaneUrls {
  readonly lane: string
  readonly #name: Call['lane']['name']
  readonly #provider: LiveProvider

  constructor(call: Call, provider: LiveProvider) {
    this.lane = `${ownOrigin(call)}${call.lane.prefix}`
    this.#name = call.lane.name
    this.#provider = provider
  }

  get provider(): string {
    const { kind, row } = this.#provider
    const { origin, path } = kind.address(row, this.#name, '')
    return `${origin}${path}`.replace(/\/$/, '')
  }
}

/** The configured URL, else the address that the client called. */
function ownOrigin({ gateway: { settings }, arrival: { request } }: Call): string {
  if (settings.url !== null) return settings.url.replace(/\/$/, '')
  const scheme = 'encrypted' in request.socket ? 'https' : 'http'
  return `${scheme}://${request.headers.host ?? `${settings.host}:${settings.port}`}`
}
