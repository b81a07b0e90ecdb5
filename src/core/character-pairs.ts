const firstHalf = /[\ud800-\udbff]/
const secondHalf = /[\udc00-\udfff]/

/** Whether the place is between the two halves of a character, as an emoji has them: no client can show one of them alone. */
export function isWithinCharacter(text: string, at: number): boolean {
  return secondHalf.test(text[at] ?? '') && firstHalf.test(text[at - 1] ?? '')
}
