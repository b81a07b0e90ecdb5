import { BlockList, isIP } from 'node:net'

/** Addresses and CIDR blocks, of both families; whoever makes a set has checked their form. */
export class AddressSet {
  readonly #list = new BlockList()

  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const [address = '', bits] = entry.split('/')
      // By the colon: each thread makes such sets at its start, and Node's pattern of IPv6 takes 7 ms to compile.
      const family = address.includes(':') ? 'ipv6' : 'ipv4'
      if (bits === undefined) this.#list.addAddress(address, family)
      else this.#list.addSubnet(address, Number(bits), family)
    }
  }

  /** False for what is no address. */
  has(address: string): boolean {
    const family = isIP(address)
    return family !== 0 && this.#list.check(address, family === 6 ? 'ipv6' : 'ipv4')
  }
}

/**
 * The client's address, where `forwarded` is the `x-forwarded-for` that came from `remote`. Each proxy adds on the right
 * whom it saw, so the first address from there that is no trusted proxy is the client; what stands left of it, the
 * client may have made up. So may all that stands left of a proxy that hides whom it saw: then nobody is known but `remote`.
 */
export function clientBehind(proxies: AddressSet, remote: string, forwarded: string): string {
  if (!proxies.has(remote)) return remote
  // Some write the port as well.
  const chain = forwarded.split(',').map((each) => each.trim().replace(/^\[(.*)\](?::\d+)?$|^([\d.]+):\d+$/, '$1$2'))
  const client = chain.findLast((address) => !proxies.has(address)) ?? ''
  return isIP(client) === 0 ? remote : client
}
