/** Variables that a file names as `${NAME}`, each once, in their order. `$${NAME}` is text. */
export function variablesIn(text: string): string[] {
  const found = [...text.matchAll(/(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].map((match) => match[1] ?? '')
  return [...new Set(found)]
}
