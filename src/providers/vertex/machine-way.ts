import { metadataOrigin } from '../address-guard.ts'
import type { ProviderTarget, WayOut } from '../contract.ts'

/** How the gateway itself begins to say that no token was sold. */
export const credentialRefused = "Google's credential was refused"

/** To the metadata service, which no other way leads to: by itself, through no proxy. */
export const machineWay: { origin: string; way: WayOut } = {
  origin: metadataOrigin,
  way: { key: 'metadata', proxy: 'direct', authorities: null, identity: null, allowPrivate: false, metadata: true },
}

/** Over TLS to Google, or to this machine. */
export function isGoogles(url: string): boolean {
  const { protocol, hostname } = URL.parse(url) ?? { protocol: '', hostname: '' }
  if (hostname === '127.0.0.1' || hostname === '[::1]') return true
  return protocol === 'https:' && /^(?:[a-z0-9-]+\.)+googleapis\.com$/.test(hostname)
}

/**
 * Why the machine's own identity does not go to this provider; null where it may. It is nobody's who edits a provider: it must not go
 * where he says, nor past an authority that he brings, nor in clear through a proxy of his. `urls`: where it goes besides.
 */
export function judgeTarget({ baseUrl, settings }: ProviderTarget, urls: readonly string[] = []): string | null {
  if (!isGoogles(baseUrl)) return 'the base URL leads elsewhere than to Google'
  if (settings.authorities !== undefined) return "it goes with no provider's own authorities"
  const proxied = settings.proxy !== undefined && settings.proxy !== 'direct'
  if (proxied && [baseUrl, ...urls].some(isInClear)) return "it goes through no provider's own proxy in clear"
  return settings.project === undefined ? 'no project is set for it' : null
}

function isInClear(url: string): boolean {
  return url !== '' && URL.parse(url)?.protocol !== 'https:'
}
