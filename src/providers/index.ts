import type { LaneName } from '../core/lane.ts'
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

const byName = indexKinds(providerKinds)
const noFormats: readonly LaneName[] = []

export function findKind(name: string): ProviderKind | null {
  return byName.get(name) ?? null
}

/** The lanes whose format a kind takes as it is; none for a kind that is not known. */
export function formatsOf(name: string): readonly LaneName[] {
  return byName.get(name)?.formats ?? noFormats
}

/** Whether a provider has such an operation (`messages`) in the formats that its kind takes. */
export function servesOperation(provider: { kind: string; settings: ProviderSettings }, operation: string): boolean {
  const kind = byName.get(provider.kind)
  return (kind?.serves?.includes(operation) ?? true) && kind?.isUnsupported?.(provider.settings, operation) !== true
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
