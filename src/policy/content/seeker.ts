import type { Detection } from '../detectors/detector.ts'

/** Finds something in a text that may go on. */
export interface Seeker {
  /** As a `Detector`. */
  find(text: string, from?: number): Detection[]
  /**
   * From where the end of the text could still grow into a detection, or into a longer or another one; the text's length: nowhere.
   * What lies before it is settled, whatever comes.
   */
  growingFrom(text: string): number
  /** Of a detection too long to be held: how far what follows belongs to it; null: it ends where it was cut. */
  rest: ((text: string) => number) | null
  /**
   * The source of a form that stands in every JSON document in whose texts something is found, unless it writes characters as `\u`
   * escapes; null: any document may have something.
   */
  inJson: string | null
}

/** Makes seekers of patterns. */
export interface PatternEngine {
  patternSeeker(pattern: string, longest: number): Seeker
}

export function joinSeekers(seekers: readonly Seeker[]): Seeker {
  const [only] = seekers
  if (seekers.length === 1 && only !== undefined) return only
  return {
    find(text, from) {
      const found: Detection[] = []
      for (const seeker of seekers) for (const detection of seeker.find(text, from)) found.push(detection)
      return found
    },
    growingFrom(text) {
      let from = text.length
      for (const seeker of seekers) from = Math.min(from, seeker.growingFrom(text))
      return from
    },
    rest: (text) => seekers.reduce((end, { rest }) => Math.max(end, rest?.(text) ?? 0), 0),
    inJson: seekers.some(({ inJson }) => inJson === null) ? null : seekers.map(({ inJson }) => inJson).join('|'),
  }
}
