import { ownValue } from '../../../core/own-value.ts'
import { headerIdentity, headerShut, hiddenHeader, isHidden } from '../../../core/secrets/hidden-header.ts'
import { mayBeSecret } from '../../../core/secrets/provider-headers.ts'
import { SealBroken } from '../../../sealing/seal-error.ts'
import type { AdminContext } from '../context.ts'
import { invalid } from '../fault.ts'

type Headers = Readonly<Record<string, string>>
type Sealer = Pick<AdminContext, 'keyring'>

type Writer = Pick<AdminContext, 'keyring' | 'runtime'>

/** As they are stored: what may be a secret is sealed to its provider and name. `before`: what stands there now. */
export function sealHeaders(
  context: Writer,
  providerId: string,
  given: Headers,
  before: Headers,
): Record<string, string> {
  const sealed = Object.entries(given).map(([name, value]) => [
    name,
    sealHeader(context, providerId, name, value, ownValue(before, name)),
  ])
  return Object.fromEntries(sealed)
}

function sealHeader(
  context: Writer,
  providerId: string,
  name: string,
  given: string,
  before: string | undefined,
): string {
  const value = given === hiddenHeader ? before : given
  if (value === undefined)
    throw invalid(
      `The header ${name} has no value yet.`,
      `${hiddenHeader} stands for one that is stored: write its value.`,
    )
  if (isHidden(value) || !mayBeSecret(name, value)) return value
  // The same again is no change.
  if (before !== undefined && isHidden(before) && openHeader(context, providerId, name, before) === value) return before
  // Nodes of the version before send what is stored: sealed, they could not send it, and each of their calls would fail.
  const { cluster, version } = context.runtime
  if (cluster?.others().some((other) => other.version !== version)) return value
  return hiddenHeader + context.keyring.seal(value, headerIdentity(providerId, name))
}

/** What a plan and the audit show and compare of headers. */
export function describeHeaders(context: Sealer, providerId: string, stored: Headers): Record<string, string> {
  const described = Object.entries(stored).map(([name, value]) => [
    name,
    describeHeader(context, providerId, name, value),
  ])
  return Object.fromEntries(described)
}

function describeHeader(context: Sealer, providerId: string, name: string, stored: string): string {
  if (!mayBeSecret(name, stored)) return stored
  const clear = isHidden(stored) ? openHeader(context, providerId, name, stored) : stored
  return clear === null ? `${hiddenHeader} (does not open)` : describeSecret(context, clear)
}

/** Why a provider with these headers is not called; null: all of them open. */
export function findHeaderShut(context: Sealer, providerId: string, stored: Headers): string | null {
  const broken = Object.keys(stored).find((name) => {
    const value = stored[name] ?? ''
    return isHidden(value) && openHeader(context, providerId, name, value) === null
  })
  return broken === undefined ? null : headerShut(broken)
}

export function describeSecret({ keyring }: Sealer, clear: string): string {
  return `${hiddenHeader} (fingerprint ${keyring.fingerprint(clear)})`
}

/** null: it does not open. */
function openHeader({ keyring }: Sealer, providerId: string, name: string, stored: string): string | null {
  try {
    return keyring.open(stored.slice(hiddenHeader.length), headerIdentity(providerId, name)).reveal()
  } catch (error) {
    if (error instanceof SealBroken) return null
    throw error
  }
}
