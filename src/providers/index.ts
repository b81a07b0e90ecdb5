import { anthropic } from './anthropic.ts'
import { azureOpenai } from './azure-openai.ts'
import { bedrock } from './bedrock.ts'
import type { ProviderKind, ProviderSettings } from './contract.ts'
import { demo } from './demo.ts'
import { gemini } from './gemini.ts'
import { openai } from './openai.ts'
import { makeOpenaiCompatible } from './openai-compatible.ts'
import { presets } from './presets.ts'
import { vertex } from './vertex.ts'

/** In the order in which people are offered them. */
export const providerKinds: readonly ProviderKind[] = [
  openai,
  anthropic,
  gemini,
  makeOpenaiCompatible(presets),
  azureOpenai,
  bedrock,
  vertex,
  demo,
]

export const kindsByName = indexKinds(providerKinds)

export function findKind(name: string): ProviderKind | null {
  return kindsByName.get(name) ?? null
}

/** Throws on a duplicate name: better no start than half of the traffic through the wrong kind. */
export function indexKinds(kinds: readonly ProviderKind[]): ReadonlyMap<string, ProviderKind> {
  const index = new Map<string, ProviderKind>()
  for (const kind of kinds) {
    if (index.has(kind.kind)) throw new Error(`Two provider kinds are named ${kind.kind}.`)
    index.set(kind.kind, kind)
  }
  return index
}

/** The base URL to store when the operator gives none; '' when one must be given. */
export function defaultBaseUrl(kind: ProviderKind, settings: ProviderSettings): string {
  return kind.baseUrlFor?.(settings) ?? kind.defaultBaseUrl
}

/** Whether this configuration needs a credential; a preset is more exact than its kind. */
export function credentialNeed(kind: ProviderKind, settings: ProviderSettings): ProviderKind['credential'] {
  return kind.presets?.find(({ name }) => name === settings.preset)?.credential ?? kind.credential
}
