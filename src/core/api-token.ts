import { hasSecretForm, mintSecretText } from './gateway-key.ts'

/** An API token: as a gateway key, under a prefix of its own, so that neither is taken for the other. */
export const tokenPrefix = 'spt_'

export function mintApiToken(): string {
  return mintSecretText(tokenPrefix)
}

/** False for a typing error: what is false is looked up nowhere. */
export function isApiToken(text: string): boolean {
  return hasSecretForm(text, tokenPrefix)
}
