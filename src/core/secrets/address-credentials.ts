const words = 'key|token|secret|password|passwd|pwd|auth|credential|sig|signature'

/**
 * The name of a parameter that says it is a secret, in any letters, as a part of a regular expression: `api_key`, `accessToken`. `code` is
 * what Azure Functions call theirs.
 */
export const secretParameter = `(?:[\\w.-]{0,64}[-_.])?(?:${words})|(?:api|app|subscription)key|(?:access|auth)token|code`
const secretName = new RegExp(`^(?:${secretParameter})$`, 'i')

export function isSecretParameter(name: string): boolean {
  return secretName.test(name)
}

/** The parameters of an address that hold a credential, by name. */
export function credentialParameters(address: string): string[] {
  if (!address.includes('?') || !URL.canParse(address)) return []
  return [...new URL(address).searchParams].flatMap(([name, value]) => (isSecret(name, value) ? [name] : []))
}

/** The address as it is shown. */
export function hideCredentials(address: string): string {
  const bare = address.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1…@')
  if (credentialParameters(bare).length === 0) return bare
  return bare.replace(/([?&])([^=&#]*)=([^&#]*)/g, (pair, before: string) => {
    const [[name, value] = ['', '']] = [...new URLSearchParams(pair.slice(1))]
    return isSecret(name, value) ? `${before}${name}=…` : pair
  })
}

function isSecret(name: string, value: string): boolean {
  return value !== '' && isSecretParameter(name)
}
