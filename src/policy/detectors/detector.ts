/** A place in a text, and what stands there. */
export interface Finding {
  start: number
  /** Behind it. */
  end: number
  /** Written in its place, in brackets: letters, digits, and what needs no escape in any format. */
  note: string
}

/**
 * Finds what it knows by form alone: the same text always gives the same findings, in order and apart from one another,
 * in time proportional to the text, however hostile it is.
 */
export type Detector = (text: string) => Finding[]

/** All findings of several detectors; where two overlap, the one that begins first, and of these the longer. */
export function findAll(text: string, detectors: readonly Detector[]): Finding[] {
  const found = detectors.flatMap((detect) => detect(text))
  if (found.length < 2) return found
  found.sort((one, other) => one.start - other.start || other.end - one.end)
  const apart: Finding[] = []
  for (const finding of found) {
    const last = apart.at(-1)
    if (last === undefined || finding.start >= last.end) apart.push({ ...finding })
    // What reaches out of another is hidden with it.
    else last.end = Math.max(last.end, finding.end)
  }
  return apart
}

/** The text with notes in place of the findings, which are in order and apart. */
export function maskFindings(text: string, findings: readonly Finding[]): string {
  let masked = ''
  let from = 0
  for (const { start, end, note } of findings) {
    masked += `${text.slice(from, start)}[${note}]`
    from = end
  }
  return masked + text.slice(from)
}

/** Each match of the form, which must have the flag `g`; `accept` may refuse one, or take a part of it. */
export function findForm(
  text: string,
  form: RegExp,
  note: string,
  accept: (match: RegExpExecArray) => { start: number; end: number } | null = ({ index, 0: { length } }) => ({
    start: index,
    end: index + length,
  }),
): Finding[] {
  const found: Finding[] = []
  for (const match of text.matchAll(form)) {
    const place = accept(match)
    if (place !== null) found.push({ ...place, note })
  }
  return found
}
