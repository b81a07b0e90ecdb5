import { closestName } from '../text/closest-names.ts'

/** As the system writes it; null: there is no such time zone. */
export function findTimeZone(name: string): string | null {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    return null
  }
}

export function explainTimeZone(name: string): string {
  const meant = closestName(name, Intl.supportedValuesOf('timeZone'))
  return `must be a time zone such as Europe/Berlin or UTC${meant === null ? '' : `; did you mean ${meant}?`}`
}
