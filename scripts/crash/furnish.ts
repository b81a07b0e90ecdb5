import type { AdminClient } from '../../src/admin/client.ts'
import { type LaneName, laneNames } from '../../src/core/lane.ts'
import type { Stage } from './call.ts'
import { credential } from './changes.ts'
import { CrashProvider, type Ledger } from './provider.ts'
import type { Random } from './random.ts'

const models: Record<LaneName, string> = {
  openai: 'gpt-4o-mini',
  anthropic: 'claude-opus-5-5',
  gemini: 'gemini-3.8-flash',
}

export function newStage(): Stage {
  return { keyName: 'load', key: '', models, shakyModel: 'shaky' }
}

/** One of each lane, and one that refuses most calls. */
export async function startProviders(ledger: Ledger, random: Random): Promise<CrashProvider[]> {
  const providers = await Promise.all(
    [...laneNames, 'shaky' as const].map((name) => {
      const shaky = name === 'shaky'
      return new CrashProvider({ lane: shaky ? 'openai' : name, ledger, random, shaky }).listen()
    }),
  )
  for (const { credentials } of providers) credentials.add(credential(0))
  return providers
}

/** Routes to these providers, and the key of the stage. */
export async function furnish(admin: AdminClient, providers: readonly CrashProvider[], stage: Stage): Promise<void> {
  for (const [index, name] of [...laneNames, 'shaky'].entries()) {
    const kind = name === 'shaky' ? 'openai' : name
    const baseUrl = providers[index]?.baseUrl
    await admin.providers.add({ name, kind, credential: credential(0), ...(baseUrl ? { baseUrl } : {}) })
  }
  for (const lane of laneNames) await admin.routes.add({ model: stage.models[lane], targets: [lane] })
  await admin.routes.add({ model: stage.shakyModel, targets: ['shaky', `openai:${stage.models.openai}`] })
  stage.key = (await admin.keys.create({ name: stage.keyName })).key
}
