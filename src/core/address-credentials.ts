/** Words at the end of a parameter's name that say it is a secret: `api_key`, `access-token`. `code` is what Azure Functions call theirs. */
const secretName =
  /(^|[-_.])(key|token|secret|password|passwd|pwd|auth|credential|sig|signature)$|^(api|app)key$|^code$/i

/** The parameters of an address that hold a credential, by name. */
export function credentialParameters(address: string): string[] {
  if (!address.includes('?') || !URL.canParse(address)) return []
  return [...new URL(address).searchParams].flatMap(([name, value]) => (isSecret(name, value) ? [name] : []))
}

/** The address as it is shown. */
export function hideCredentials(address: string): string {
  if (credentialParameters(address).length === 0) return address
  return address.replace(/([?&])([^=&#]*)=([^&#]*)/g, (pair, before: string) => {
    const [[name, value] = ['', '']] = [...new URLSearchParams(pair.slice(1))]
    return isSecret(name, value) ? `${before}${name}=…` : pair
  })
}

function isSecret(name: string, value: string): boolean {
  return value !== '' && secretName.test(name)
}
