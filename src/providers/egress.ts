import type { ClientIdentity, EgressOptions, KindSetting } from './contract.ts'

/** Settings that every kind has which calls somebody over the network. */
export const egressSettings = {
  proxy: { description: 'Proxy (http://host:port), or `direct` (default: HTTPS_PROXY and NO_PROXY)' },
  authorities: { description: 'Additional certificate authorities to trust (PEM)' },
  allow_private: { description: 'Allow the host name to resolve to a private address', type: 'boolean' },
} as const satisfies Record<string, KindSetting>

/** Null for nearly all: the usual egress. */
export function egressOf(
  settings: Readonly<Record<string, unknown>>,
  identity: ClientIdentity | null,
): EgressOptions | null {
  const text = (name: keyof typeof egressSettings) => {
    const value = settings[name]
    return typeof value === 'string' ? value : null
  }
  const egress = {
    proxy: text('proxy'),
    authorities: text('authorities'),
    identity,
    allowPrivate: settings.allow_private === true,
  }
  if (egress.proxy === null && egress.authorities === null && identity === null && !egress.allowPrivate) return null
  return { ...egress, key: JSON.stringify([egress.proxy, egress.authorities, identity, egress.allowPrivate]) }
}
