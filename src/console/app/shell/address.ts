/** Search words stand in an address as plain text, so that a person can read and write them. */
export function parseSearch(text: string): Record<string, unknown> {
  return Object.fromEntries(new URLSearchParams(text))
}

export function writeSearch(search: Record<string, unknown>): string {
  const words = new URLSearchParams()
  for (const [name, value] of Object.entries(search))
    if (value !== undefined && value !== null && value !== '') words.set(name, String(value))
  const text = words.toString()
  return text === '' ? '' : `?${text}`
}
