/** A place in a text, and what was found there. */
export interface Detection {
  start: number
  /** Exclusive. */
  end: number
  /** Replaces it, in brackets: only letters, digits and characters that need no escape in any format. */
  note: string
}

/**
 * Finds what it recognises by form alone. The same text always gives the same detections, in order and without overlap, in
 * time proportional to the length of the text, even if the text is hostile. `from`: what begins before it need not be found.
 */
export type Detector = (text: string, from?: number) => Detection[]

/** The detections of several detectors. Of two that overlap, the one that begins first stays; if they begin together, the longer. */
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

/** The matches of a form, which must have the flag `g`, from a place on. `accept` may reject a match, or take a part of it. */
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
  // Not `matchAll`, which copies the form each time: that took longer than to look through a short text.
  form.lastIndex = from
  for (let match = form.exec(text); match !== null; match = form.exec(text)) {
    const place = accept(match)
    if (place !== null) found.push({ note, ...place })
  }
  return found
}
