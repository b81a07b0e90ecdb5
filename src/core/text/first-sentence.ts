/** Without what follows, such as advice to the client, and without its full stop: to go on after it. */
export function firstSentence(text: string): string {
  return text.trim().split(/\.(?:\s|$)/, 1)[0] ?? ''
}
