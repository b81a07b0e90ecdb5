import type { Problem } from '../../../manifest/resource.ts'

/** What is found while files are prepared, beside what they say. */
export interface ManifestProblems {
  problems: Problem[]
  /** New credentials that are not known, since their variables are not set. */
  unset: Problem[]
  notes: string[]
}
