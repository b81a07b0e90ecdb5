import { groupDigits } from './show-number.ts'

/** A record has no body, and one that was captured is not read for this. */
export function describeEstimate(bytes: number): string {
  const size = groupDigits(bytes)
  return `Estimated from its model and its ${size} bytes: its body is not read, so its output limit, its end user, more models that it named, what content rules find in it, and its conversation are not known.`
}
