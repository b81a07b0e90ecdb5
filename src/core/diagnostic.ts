/** What a check of one part of a gateway found. */
export interface Diagnostic {
  /** The part, in a word or two. */
  check: string
  state: 'ok' | 'warning' | 'problem'
  /** What was found, in a sentence without its full stop. */
  message: string
  /** What to do about it; null: nothing. */
  remedy: string | null
}

export function ok(check: string, message: string): Diagnostic {
  return { check, state: 'ok', message, remedy: null }
}

export function warning(check: string, message: string, remedy: string): Diagnostic {
  return { check, state: 'warning', message, remedy }
}

export function problem(check: string, message: string, remedy: string): Diagnostic {
  return { check, state: 'problem', message, remedy }
}
