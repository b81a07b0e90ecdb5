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

const first = ['openai', 'anthropic', 'gemini', 'openai-compatible', 'azure-openai', 'bedrock', 'vertex', 'demo']

const abouts: Record<string, string> = {
  openai: 'GPT and reasoning models, embeddings, moderation',
  anthropic: 'Claude models, in the Messages format',
  gemini: 'Gemini models, in the generateContent format',
  'openai-compatible': 'Any vendor or server with an OpenAI-compatible API',
  'azure-openai': 'Azure deployments, with an API key or service principal',
  bedrock: 'Anthropic models on AWS, with an access key or Bedrock API key',
  vertex: 'Google and Anthropic models, with a service account',
  demo: 'Built-in test provider, no network or account needed',
}

/** The kinds in the order in which they are wanted, any new one behind. */
export function kindChoices(kinds: readonly ProviderKind[]): AddChoice[] {
  const rank = ({ kind }: ProviderKind) => (first.includes(kind) ? first.indexOf(kind) : first.length)
  return [...kinds]
    .sort((left, right) => rank(left) - rank(right))
    .map((kind) => ({
      word: kind.kind,
      kind,
      preset: null,
      title: kind.presets.length > 0 ? 'Other' : kind.title,
      about: abouts[kind.kind] ?? `Formats: ${kind.speaks.join(', ')}`,
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
