import type { LaneUrls } from '../../lanes/contract.ts'
import type { Exchange } from '../exchange.ts'
import type { Gateway } from '../gateway.ts'
import type { LiveProvider } from '../read-model.ts'

/** The lane as this client sees it, and as the provider does. */
export function laneUrls(gateway: Gateway, exchange: Exchange, { kind, row }: LiveProvider): LaneUrls {
  const { name, prefix } = exchange.lane!
  return {
    lane: `${ownOrigin(gateway, exchange)}${prefix}`,
    get provider() {
      const { origin, path } = kind.address(row, name, '')
      return `${origin}${path}`.replace(/\/$/, '')
    },
  }
}

/** The setting, else what the client itself called. */
function ownOrigin({ settings }: Gateway, { request }: Exchange): string {
  if (settings.url !== null) return settings.url.replace(/\/$/, '')
  const scheme = 'encrypted' in request.socket ? 'https' : 'http'
  return `${scheme}://${request.headers.host ?? `${settings.host}:${settings.port}`}`
}
