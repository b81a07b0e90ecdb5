import type { LaneUrls } from '../../lanes/contract.ts'
import type { Call } from '../request/call.ts'
import type { LiveProvider } from '../thread/read-model.ts'

/** The lane as this client sees it, and as the provider does. */
export function laneUrls(call: Call, { kind, row }: LiveProvider): LaneUrls {
  const { name, prefix } = call.lane
  return {
    lane: `${ownOrigin(call)}${prefix}`,
    get provider() {
      const { origin, path } = kind.address(row, name, '')
      return `${origin}${path}`.replace(/\/$/, '')
    },
  }
}

/** The setting, else what the client itself called. */
function ownOrigin({ gateway: { settings }, arrival: { request } }: Call): string {
  if (settings.url !== null) return settings.url.replace(/\/$/, '')
  const scheme = 'encrypted' in request.socket ? 'https' : 'http'
  return `${scheme}://${request.headers.host ?? `${settings.host}:${settings.port}`}`
}
