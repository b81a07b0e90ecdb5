import { hasSecretForm, mintSecretText } from './gateway-key.ts'

/** An API token has the form of a gateway key, with a prefix of its own, so that neither is mistaken for the other. */
export const tokenPrefix = 'spt_'

export function mintApiToken(): string {
  return mintSecretText(tokenPrefix)
}

/** False for a typing error: such a token is not looked up. */
export function isApiToken(text: string): boolean {
  return hasSecretForm(text, tokenPrefix)
}
