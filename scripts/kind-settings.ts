import { listOperations } from '../src/admin/contract/operations.ts'
import { listedKindSettings } from '../src/admin/contract/providers/kind-settings.ts'
import type { ProviderKind } from '../src/providers/contract.ts'

interface KindSettingRow {
  kinds: string[]
  setting: string
  type: 'string' | 'boolean'
  description: string
}

/** Words that mean something for every command. */
const globalFlags = ['project', 'environment', 'output', 'json', 'utc', 'yes', 'dataDir', 'wait', 'verbose', 'help']

/**
 * The rows of `src/admin/contract/providers/kind-settings.json`: what the kinds declare, by input field. A field has the setting's name, with the
 * kind's in front where the name already means something else.
 */
export function deriveKindSettings(kinds: readonly ProviderKind[]): Record<string, KindSettingRow> {
  const taken = otherFields()
  const rows = new Map<string, KindSettingRow>()
  for (const { kind, settings } of kinds)
    for (const [setting, { type = 'string', description }] of Object.entries(settings)) {
      const field = taken.has(camelCase(setting)) ? camelCase(`${kind}_${setting}`) : camelCase(setting)
      const row = rows.get(field) ?? { kinds: [], setting, type, description }
      if (row.setting !== setting || row.type !== type || row.description !== description)
        throw new Error(`${row.kinds.join(', ')} and ${kind} mean different things by ${setting}: rename one of them.`)
      rows.set(field, { ...row, kinds: [...row.kinds, kind] })
    }
  // What many kinds have is seldom needed.
  return Object.fromEntries([...rows].sort(([, one], [, other]) => one.kinds.length - other.kinds.length))
}

/** One row a line. */
export function writeKindSettings(kinds: readonly ProviderKind[]): string {
  const rows = Object.entries(deriveKindSettings(kinds))
  return `{\n${rows.map(([field, row]) => `  ${JSON.stringify(field)}: ${JSON.stringify(row)}`).join(',\n')}\n}\n`
}

/** Input fields of `providers add` and `edit` that are not settings of a kind. */
function otherFields(): Set<string> {
  const own = new Set<string>(listedKindSettings.map(({ field }) => field))
  const inputs = listOperations().filter(({ name }) => name === 'providers.add' || name === 'providers.edit')
  const names = inputs.flatMap(({ input }) => Object.keys(input.shape))
  return new Set([...names.filter((name) => !own.has(name)), ...globalFlags])
}

function camelCase(text: string): string {
  return text.replace(/[-_](.)/g, (_, letter: string) => letter.toUpperCase())
}
