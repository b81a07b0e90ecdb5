import { type LookupAddress, type LookupOptions, lookup } from 'node:dns'
import type { SecureContext } from 'node:tls'
import { classifyAddress, evaluateHost, metadataOrigin, refusal } from './address-guard.ts'
import type { EgressOptions } from './contract.ts'

/** A call that nobody may be asked with. Its message is the gateway's own. */
export class DestinationRejected extends Error {
  readonly code = 'SPGW_DESTINATION_REJECTED'
}

type Lookup = (hostname: string, options: LookupOptions, callback: LookupCallback) => void
type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void

/** What sockets are opened with. */
export interface ConnectOptions {
  lookup: Lookup
  secureContext?: SecureContext
}

/**
 * For sockets to an origin. An address is looked at where the connection is made, so that a name cannot lead to one address
 * when it is checked and to another when it is called. Throws `DestinationRejected` for an address that stands in the origin.
 */
export function connectOptions(origin: string, egress: EgressOptions | null, anywhere: boolean): ConnectOptions {
  // The one address that is meant, where the operator chose the machine's own identity.
  if (egress?.metadata && origin === metadataOrigin) return { lookup: lookupPublic }
  const rule = evaluateHost(new URL(origin).hostname, anywhere || (egress?.allowPrivate ?? false))
  if (rule.refused !== null) throw new DestinationRejected(rule.refused)
  return { lookup: rule.mayBePrivate ? lookupWithPrivate : lookupPublic, ...trustOf(egress) }
}

/** Whom a connection believes, and who it says it is. Throws `DestinationRejected` for what is no PEM. */
export function trustOf(egress: EgressOptions | null): { secureContext?: SecureContext } {
  const { identity = null, authorities = null } = egress ?? {}
  if (identity === null && authorities === null) return {}
  const tls = process.getBuiltinModule('node:tls')
  try {
    const secureContext = tls.createSecureContext({
      // A list of one's own stands in place of the usual one.
      ...(authorities === null ? {} : { ca: [...tls.getCACertificates('default'), authorities] }),
      ...(identity === null ? {} : { cert: identity.certificate, key: identity.key }),
    })
    return { secureContext }
  } catch {
    // The reason is not told: it may quote the key.
    throw new DestinationRejected(
      "The provider's own authorities, or the client certificate with its key, cannot be used.",
    )
  }
}

const lookupPublic: Lookup = (hostname, options, callback) => guardLookup(hostname, options, false, callback)
const lookupWithPrivate: Lookup = (hostname, options, callback) => guardLookup(hostname, options, true, callback)

function guardLookup(hostname: string, options: LookupOptions, mayBePrivate: boolean, callback: LookupCallback): void {
  lookup(hostname, options, (error: Error | null, found: string | LookupAddress[], family?: number) => {
    if (error !== null) return callback(error, found, family)
    const addresses = typeof found === 'string' ? [found] : found.map(({ address }) => address)
    const kinds = addresses.map(classifyAddress)
    // One bad address is enough: whoever mixes them has something in mind.
    if (kinds.includes('forbidden')) return callback(new DestinationRejected(refusal('forbidden')), [])
    if (!mayBePrivate && kinds.includes('private')) return callback(new DestinationRejected(refusal('private')), [])
    callback(null, found, family)
  })
}
