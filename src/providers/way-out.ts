import type { ClientIdentity, KindSetting, WayOut } from './contract.ts'

/** Settings that every kind has which calls somebody over the network. */
export const wayOutSettings = {
  proxy: { description: 'Proxy (http://host:port), or `direct` (default: HTTPS_PROXY and NO_PROXY)' },
  authorities: { description: 'Additional certificate authorities to trust (PEM)' },
  allow_private: { description: 'Allow the host name to resolve to a private address', type: 'boolean' },
} as const satisfies Record<string, KindSetting>

/** Null for nearly all: the usual way. */
export function wayOutOf(settings: Readonly<Record<string, unknown>>, identity: ClientIdentity | null): WayOut | null {
  const text = (name: keyof typeof wayOutSettings) => {
    const value = settings[name]
    return typeof value === 'string' ? value : null
  }
  const way = {
    proxy: text('proxy'),
    authorities: text('authorities'),
    identity,
    allowPrivate: settings.allow_private === true,
  }
  if (way.proxy === null && way.authorities === null && identity === null && !way.allowPrivate) return null
  return { ...way, key: JSON.stringify([way.proxy, way.authorities, identity, way.allowPrivate]) }
}
