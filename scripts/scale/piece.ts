/** Records to invent, spread over a time. */
export interface Inventing {
  records: number
  /** Milliseconds since the epoch. */
  from: number
  until: number
  seed: number
}

/** Entries as they stand in a segment of the journal. */
export interface Piece {
  window: Uint8Array
  records: number
}

/** What occurs once, on the oldest day: the hardest to find. */
export const rare = {
  project: 'once-project',
  key: 'once-key',
  model: 'once-model',
  provider: 'once-provider',
  error: 'request_too_large',
  status: 418,
} as const
