/** What a failed call failed of, as a number beside the statuses, so that it fits into shared memory. */
export const failureCause = { unreachable: 1, cut: 2, timeout: 3, malformed: 4, check: 5 } as const

const texts: Readonly<Record<number, string>> = {
  [failureCause.unreachable]: 'could not be reached',
  [failureCause.cut]: 'broke off its answers',
  [failureCause.timeout]: 'did not answer in time',
  [failureCause.malformed]: 'sent answers that cannot be read',
  [failureCause.check]: 'failed the free check as well',
  503: 'is overloaded (503)',
  529: 'is overloaded (529)',
}

/** In words that follow a name: `is overloaded (503)`. */
export function describeCause(cause: number): string {
  return texts[cause] ?? (cause >= 100 ? `answers ${cause}` : 'fails')
}
