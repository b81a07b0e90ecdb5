/** A place in a text, and what was found there. */
export interface Detection {
  start: number
  /** Exclusive. */
  end: number
  /** The text that replaces it, in brackets: only letters, digits and characters that need no escape in any format. */
  note: string
}

/**
 * Recognises something by its form alone. The same text always gives the same detections, in order and without overlap, in time
 * proportional to its length, even if it is hostile. `from`: detections that begin before it may be left out.
 */
export type Detector = (text: string, from?: number) => Detection[]

/** The detections of several detectors. If two overlap, the one that begins first wins; if they begin together, the longer. */
export function findAll(text: string, detectors: readonly Detector[]): Detection[] {
  const found = detectors.flatMap((detect) => detect(text))
  if (found.length < 2) return found
  found.sort((one, other) => one.start - other.start || other.end - one.end)
  const apart: Detection[] = []
  for (const detection of found) {
    const last = apart.at(-1)
    if (last === undefined || detection.start >= last.end) apart.push({ ...detection })
    // The part that sticks out of another detection is hidden with it.
    else last.end = Math.max(last.end, detection.end)
  }
  return apart
}

/** The matches of a regular expression with the flag `g`, from an index on. `accept` may reject a match, or accept a part of it. */
export function findForm(
  text: string,
  from: number,
  form: RegExp,
  note: string,
  accept: (match: RegExpExecArray) => (Omit<Detection, 'note'> & Partial<Detection>) | null = ({
    index,
    0: { length },
  }) => ({
    start: index,
    end: index + length,
  }),
): Detection[] {
  const found: Detection[] = []
  // Not `matchAll`, which copies the expression each time: that took longer than searching a short text.
  form.lastIndex = from
  for (let match = form.exec(text); match !== null; match = form.exec(text)) {
    const place = accept(match)
    if (place !== null) found.push({ note, ...place })
  }
  return found
}
