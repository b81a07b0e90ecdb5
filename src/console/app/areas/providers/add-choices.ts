import type { ProviderKind } from '../outputs.ts'

/** What can be added: a kind, or a known vendor of one. */
export interface AddChoice {
  /** `openai`, `openai-compatible/groq`: as in the address. */
  word: string
  kind: ProviderKind
  /** null: the kind itself. */
  preset: ProviderKind['presets'][number] | null
  title: string
  about: string
}

/** In the order in which the gateway lists them. */
export function kindChoices(kinds: readonly ProviderKind[]): AddChoice[] {
  return kinds.map((kind) => ({
    word: kind.kind,
    kind,
    preset: null,
    title: kind.presets.length > 0 ? 'Other' : kind.title,
    about: kind.description,
  }))
}

export function presetChoices(kind: ProviderKind): AddChoice[] {
  return kind.presets.map((preset) => ({
    word: `${kind.kind}/${preset.name}`,
    kind,
    preset,
    title: preset.title,
    about: preset.base_url,
  }))
}

/** What the address names; null: nothing that there is. */
export function findChoice(word: string, kinds: readonly ProviderKind[]): AddChoice | null {
  const [name, preset] = word.split('/', 2)
  const kind = kinds.find((one) => one.kind === name)
  if (kind === undefined) return null
  if (preset === undefined || preset === 'own') return kindChoices([kind])[0] ?? null
  return presetChoices(kind).find((choice) => choice.word === word) ?? null
}

/** A name that is free: `openai`, `openai-2`. */
export function freeName(wanted: string, taken: readonly string[]): string {
  if (!taken.includes(wanted)) return wanted
  for (let number = 2; ; number++) if (!taken.includes(`${wanted}-${number}`)) return `${wanted}-${number}`
}

/** Kinds and vendors whose name, title or address has the text; null: there is none, so nothing was searched for. */
export function searchChoices(text: string, kinds: readonly ProviderKind[]): AddChoice[] | null {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return null
  const all = kinds.flatMap((kind) => [...kindChoices([kind]), ...presetChoices(kind)])
  return all.filter(({ word, title, about }) => `${word} ${title} ${about}`.toLowerCase().includes(wanted))
}
