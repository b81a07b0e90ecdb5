/** What a look at one part of a gateway has found. */
export interface Finding {
  /** The part, in a word or two. */
  check: string
  state: 'ok' | 'warning' | 'problem'
  /** What was found, in a sentence without its full stop. */
  message: string
  /** What to do about it; null: nothing. */
  remedy: string | null
}

export function well(check: string, message: string): Finding {
  return { check, state: 'ok', message, remedy: null }
}

export function warn(check: string, message: string, remedy: string): Finding {
  return { check, state: 'warning', message, remedy }
}

export function complain(check: string, message: string, remedy: string): Finding {
  return { check, state: 'problem', message, remedy }
}
