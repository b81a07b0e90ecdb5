/** Text as one word of a shell's command: nothing within is read by it. */
export function shellQuote(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
