/** Whether the place is between the two halves of a character, as an emoji has them: no client can show one of them alone. */
export function isWithinCharacter(text: string, at: number): boolean {
  return (text.codePointAt(at - 1) ?? 0) > 0xffff
}
