import { isIP } from 'node:net'

export type AddressForm = 'full' | 'masked' | 'none'

/** A client's address as records have it. Masked: the network, a /24 of IPv4 and a /48 of IPv6, with zeros for the rest. */
export function recordedAddress(address: string | null, form: Exclude<AddressForm, 'full'>): string | null {
  return address === null || form === 'none' ? null : maskAddress(address)
}

/** Null for what is no address. */
function maskAddress(address: string): string | null {
  const plain = address.replace(/^::ffff:(?=[\d.]+$)/i, '')
  switch (isIP(plain)) {
    case 4:
      return plain.replace(/\d+$/, '0')
    case 6:
      return `${expand(plain).slice(0, 3).join(':')}::`
    default:
      return null
  }
}

/** Its eight groups. */
function expand(address: string): string[] {
  const [left = '', right] = address.replace(/%.*$/, '').split('::')
  const groups = (text: string) => text.split(':').filter((group) => group !== '')
  if (right === undefined) return groups(left)
  const zeros = Math.max(0, 8 - groups(left).length - groups(right).length)
  return [...groups(left), ...Array.from({ length: zeros }, () => '0'), ...groups(right)]
}
