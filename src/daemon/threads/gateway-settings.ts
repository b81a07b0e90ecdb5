import type { Settings } from '../../config/settings.ts'
import type { GatewaySettings } from '../../gateway/gateway.ts'
import type { Proxies } from '../../providers/proxy-choice.ts'
import { canSharePort, chooseHeldLimit } from '../health/memory.ts'

const keepAliveMs = 15_000

/** The settings as the data-plane threads have them: plain data. */
export function toGatewaySettings(settings: Settings, port: number): GatewaySettings {
  const { url, host, bodyLimit, uploadLimit, translateLimit, timeouts, trustedProxies, corsOrigins, webrtc } =
    settings.gateway
  const heldLimit = chooseHeldLimit(settings.gateway.heldLimit, bodyLimit)
  return {
    leaving: false,
    url,
    host,
    port,
    proxies: revealProxies(settings),
    reusePort: canSharePort(),
    // What could never be held is too large, not too much.
    bodyLimit: Math.min(bodyLimit, heldLimit),
    uploadLimit,
    translateLimit,
    heldLimit,
    timeouts,
    keepAliveMs,
    trustedProxies,
    corsOrigins,
    clientAddress: settings.records.clientAddress,
    webrtc,
    traces: settings.telemetry !== null,
  }
}

export function hostOf(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** What goes to a thread is plain data. */
export function revealProxies({ proxies }: Pick<Settings, 'proxies'>): Proxies {
  const { http, https, except } = proxies
  return { http: http?.reveal() ?? null, https: https?.reveal() ?? null, except }
}

/** Where the gateway reaches itself when it listens on every address. */
export function loopbackOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '[::1]' : hostOf(host)
}
