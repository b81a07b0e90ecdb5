import type { ProviderKind, ProviderSettings } from './contract.ts'

/** Whose models a provider sells; null: nobody knows. Whoever is behind a compatible provider is known by its preset alone. */
export function vendorOf(
  { kind, presets }: Pick<ProviderKind, 'kind' | 'presets'>,
  { preset }: ProviderSettings,
): string | null {
  if (presets === undefined) return kind
  return typeof preset === 'string' ? preset : null
}
