import { readdirSync } from 'node:fs'
import type { Settings } from '../../config/settings.ts'
import type { Secret } from '../../core/secrets/secret.ts'
import { StoreInUse } from '../../store/store-error.ts'
import { layFoundation, makeRecoveryKey } from '../foundation.ts'
import { giveToOwner } from '../give-to-owner.ts'

export interface Initialised {
  /** In words; empty when all was there. */
  made: string[]
  /** To be shown once; null: the gateway was there before, or none was wanted. */
  recoveryKey: Secret | null
}

/** Makes what a gateway needs where it is not there yet. */
export async function initialise(
  settings: Settings,
  credentialsDirectory: string | null,
  wantsRecoveryKey: boolean,
): Promise<Initialised> {
  const foundation = await layFoundation({ settings, credentialsDirectory, boot: 'init' }).catch(passOver)
  // Whoever is at work there has made everything.
  if (foundation === null) return { made: [], recoveryKey: null }
  try {
    const recoveryKey = foundation.fresh && wantsRecoveryKey ? await makeRecoveryKey(foundation) : null
    return { made: foundation.made, recoveryKey }
  } finally {
    await foundation.store.close()
    if (foundation.made.length > 0) giveToOwner(settings.dataDirectory, readdirSync(settings.dataDirectory))
  }
}

function passOver(error: unknown): null {
  if (error instanceof StoreInUse) return null
  throw error
}
