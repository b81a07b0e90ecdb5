import { fieldTitles } from '../../../admin/contract/field-titles.ts'
import { withoutUnit } from '../../../admin/contract/show-value.ts'

/** `first_byte_ms` → `First byte`, `baseUrl` → `Base URL`. */
export function labelOf(name: string): string {
  const title = fieldTitles[name]
  if (title !== undefined) return title
  const words = withoutUnit(name)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase()
    .replace(/\burl\b/g, 'URL')
    .replace(/\bid\b/g, 'ID')
    .replace(/\bopenai\b/g, 'OpenAI')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** `LAST USED` → `Last used`, `P95` → `p95`, `USD/MONTH` → `USD/month`; what is in sentence case stays. */
export function sentenceCase(title: string): string {
  if (title !== title.toUpperCase()) return title
  if (/^P\d+$/.test(title)) return title.toLowerCase()
  return (title.charAt(0) + title.slice(1).toLowerCase()).replace(/\b(usd|url)\b/i, (word) => word.toUpperCase())
}

const stateWords: Record<string, string> = {
  admitted: 'In progress',
  ok: 'OK',
  'cooling down': 'Cooling down',
  unchecked: 'Not checked',
}

/** In sentence case. Error codes (`model_not_found`) stay as they are: people search for them. */
export function stateLabel(state: string | number | null): string {
  if (state === null) return 'Unknown'
  return String(state).replace(
    /^[a-z]+(?![a-z_])/,
    (word) => stateWords[word] ?? word.charAt(0).toUpperCase() + word.slice(1),
  )
}
