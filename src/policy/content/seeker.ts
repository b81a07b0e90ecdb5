import type { Detection } from '../detectors/detector.ts'

/** Searches a text that may not be complete. */
export interface Seeker {
  /** Like a `Detector`. */
  find(text: string, from?: number): Detection[]
  /**
   * The index from which the end of the text could still become a detection, or a longer or different one; the text's length: nowhere.
   * Everything before it is settled, whatever follows.
   */
  growingFrom(text: string): number
  /** For a detection too long to be held: how many of the following characters belong to it; null: it ends where it was cut. */
  rest: ((text: string) => number) | null
  /**
   * The source of a form that occurs in every JSON document with a detection in its texts, unless characters are written as `\u` escapes;
   * null: any document may have one.
   */
  inJson: string | null
}

/** Makes seekers from patterns. */
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
