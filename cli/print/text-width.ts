/** ASCII, Latin letters, and the signs that our own tables are made of: one cell each, whatever a table of Unicode says. */
const simple = /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u024f\u2010-\u2027\u2190-\u2193\u2500-\u259f]*$/

let measure: ((text: string) => number) | undefined

/**
 * Must have resolved before text that is not `simple` is laid out: the library that knows all of Unicode takes longer to
 * load than a whole command, and nearly no command needs it.
 */
export async function prepareWidths(value: unknown): Promise<void> {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  if (measure === undefined && !simple.test(text)) measure = (await import('./unicode-width.ts')).unicodeWidth
}

/** In terminal cells. */
export function textWidth(text: string): number {
  if (measure === undefined || simple.test(text)) return text.length
  return measure(text)
}
