import type { Problem } from './resource.ts'

/** Nobody fixes more at once, and what is shown must stay short whatever a file holds. */
const mostProblems = 50
const longestText = 400

/** The first of them, each of a length that can be read. */
export function boundProblems(problems: readonly Problem[]): Problem[] {
  const shown = problems.slice(0, mostProblems).map(({ place, message }) => ({
    place: shorten(place),
    message: shorten(message),
  }))
  const more = problems.length - shown.length
  const next = problems[mostProblems]
  if (next === undefined) return shown
  const message = more === 1 ? 'there is one more problem' : `there are ${more} more problems; fix these first`
  return [...shown, { place: shorten(next.place), message }]
}

/** The same for sentences. */
export function boundNotes(notes: readonly string[]): string[] {
  const more = notes.length - mostProblems
  const shown = notes.slice(0, mostProblems).map(shorten)
  return more > 0 ? [...shown, `And ${more} more of this kind`] : shown
}

/** The first of many names, and how many more there are. */
export function firstOf(names: readonly string[], most: number): string {
  const more = names.length - most
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function shorten(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText).toWellFormed()}…` : text
}
