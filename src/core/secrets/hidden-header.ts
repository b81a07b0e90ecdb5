/**
 * Shown in place of a header's value that may be a secret, and the beginning of what is stored of it, sealed. No header that can be sent
 * holds this character.
 */
export const hiddenHeader = '…'

export function isHidden(value: string): boolean {
  return value.startsWith(hiddenHeader)
}

export function headerIdentity(providerId: string, name: string): string {
  return `header:${providerId}:${name}`
}

export function headerShut(name: string): string {
  return `its stored header ${name} cannot be decrypted; enter it again`
}
