import type { ConversationSettings } from './conversation.ts'
import type { Ledger } from './ledger.ts'
import { settingPath } from './setting-paths.ts'

type Sampling = 'temperature' | 'topP' | 'topK' | 'frequencyPenalty' | 'presencePenalty'

/** Each by its name in the format. `refused`: the model takes none. */
export function writeSampling(
  names: readonly (readonly [string, Sampling])[],
  settings: ConversationSettings,
  refused: boolean,
  ledger: Ledger,
): Record<string, unknown> {
  const written: Record<string, unknown> = {}
  for (const [name, setting] of names) {
    if (settings[setting] === null) continue
    if (refused) ledger.lose(settingPath(ledger.from, setting))
    else written[name] = settings[setting]
  }
  return written
}
