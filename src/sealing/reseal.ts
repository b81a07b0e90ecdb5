import type { Keyring } from './keyring.ts'
import { SealBroken } from './seal-error.ts'

export interface SealedValue {
  identity: string
  sealed: string
}

export interface Reseal {
  /** What to write in place of what. */
  changes: { identity: string; before: string; after: string }[]
  /** Identities of values that `from` does not open; they stay as they are. */
  broken: string[]
}

/** Seals under `to` what was sealed under `from`. */
export function resealValues(values: readonly SealedValue[], from: Keyring, to: Keyring): Reseal {
  const reseal: Reseal = { changes: [], broken: [] }
  for (const { identity, sealed } of values) {
    try {
      const after = to.seal(from.open(sealed, identity).reveal(), identity)
      reseal.changes.push({ identity, before: sealed, after })
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error
      reseal.broken.push(identity)
    }
  }
  return reseal
}
