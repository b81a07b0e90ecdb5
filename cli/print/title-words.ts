const written: Record<string, string> = {
  api: 'API',
  id: 'ID',
  openai: 'OpenAI',
  sha256: 'SHA-256',
  url: 'URL',
  usd: 'USD',
}

/** A field's name as people write it: `base url` → `Base URL`. */
export function titleWords(words: string): string {
  const title = words.replace(/\w+/g, (word) => written[word] ?? word)
  return title.charAt(0).toUpperCase() + title.slice(1)
}
