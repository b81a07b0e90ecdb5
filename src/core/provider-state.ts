/** What the gateway found about a provider or a target, by live calls and by checks. Source: contract.md rule 24. */
export const providerStates = ['unchecked', 'ready', 'failing', 'recovering'] as const
export type ProviderStateName = (typeof providerStates)[number]

export interface ShownState {
  state: ProviderStateName
  reason: string | null
  /** RFC 3339; null: not known. */
  since: string | null
}
