import type { Settings } from '../config/settings.ts'
import { layFoundation } from './foundation.ts'

/** Makes what a gateway needs where it is not there yet; `made` is empty when all of it was. */
export async function initialise(settings: Settings, credentialsDirectory: string | null): Promise<{ made: string[] }> {
  const { store, made } = await layFoundation({ settings, credentialsDirectory, boot: 'init' })
  await store.close()
  return { made }
}
