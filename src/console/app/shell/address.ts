/** Query parameters are plain text, so that people can read and write them. */
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

/** One word of an address, if it is there and not empty. */
export function textIn<Name extends string>(search: Record<string, unknown>, name: Name): { [Key in Name]?: string } {
  const value = search[name]
  return (typeof value === 'string' && value !== '' ? { [name]: value } : {}) as { [Key in Name]?: string }
}

/**
 * The page to open after sign-in: only a path of the console, so that the parameter cannot redirect to another site.
 * Control characters are rejected too: browsers drop them, which would turn `/<tab>/evil.example` into another host.
 */
export function safeNext(next: string | undefined): string {
  if (next === undefined || !/^\/(?![/\\])[^\p{Cc}]*$/u.test(next) || next.startsWith('/sign-in')) return '/'
  return next
}
