import type { ProviderKind } from '../providers/contract.ts'
import { providerKinds } from '../providers/index.ts'
import type { Preset } from '../providers/presets.ts'

/** What a vendor's name in another gateway's file stands for here. */
export interface Vendor {
  kind: ProviderKind
  preset: Preset | null
  /** The environment variable in which that gateway looks for the API key when its file names none. */
  keyVariable: string | null
  /** The file has to say where it is. */
  needsAddress: boolean
}

/** Vendors with a format or a way of signing of their own, which no kind has yet. */
const unsupported = new Set([
  ...['azure_ai', 'azure-ai', 'sagemaker', 'cohere', 'cohere_chat', 'replicate', 'watsonx', 'databricks'],
  ...['cloudflare', 'workers-ai', 'ai21', 'voyage', 'jina_ai', 'predibase', 'oci', 'github', 'github_copilot'],
  ...['anyscale', 'stability-ai'],
])

/** The names that other gateways give to vendors, as the provider kinds and their presets state them. */
export class Vendors {
  readonly #kinds: readonly ProviderKind[]
  readonly #byName = new Map<string, Vendor>()

  constructor(kinds: readonly ProviderKind[] = providerKinds) {
    this.#kinds = kinds
    for (const kind of kinds) {
      const { names = [], keyVariable = null, needsAddress = false } = kind.imports ?? {}
      for (const name of names) this.#byName.set(name, { kind, preset: null, keyVariable, needsAddress })
      for (const preset of kind.presets ?? [])
        for (const name of [preset.name, ...preset.importNames]) {
          const variable = `${name.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}_API_KEY`
          const keyVariable = preset.credential === 'required' ? variable : null
          this.#byName.set(name, { kind, preset, keyVariable, needsAddress: false })
        }
    }
  }

  /** null: no kind serves that vendor. */
  find(name: string): Vendor | null {
    return this.#byName.get(name) ?? null
  }

  /** Whether the name is that of a vendor at all, served or not. */
  isKnown(name: string): boolean {
    return this.#byName.has(name) || unsupported.has(name)
  }

  /** The vendor of a model that a file names without its vendor. */
  guess(model: string): string | null {
    return this.#kinds.find(({ imports }) => imports?.models?.test(model))?.imports?.names[0] ?? null
  }
}

/** Why a vendor's models are left out. */
export function explainAbsence(name: string): string {
  return `this gateway has no provider kind for ${JSON.stringify(name)}`
}
