/** `requests.series`: figures by time, one line a group. */
export interface Series {
  since: string
  until: string
  step_ms: number
  groups: { group: string; points: SeriesPoint[] }[]
}

export interface SeriesPoint {
  time: string
  requests: number
  errors: number
  input: number
  output: number
  usd: number | null
  duration_p50_ms: number | null
  duration_p95_ms: number | null
  duration_p99_ms: number | null
  first_byte_p50_ms: number | null
  first_byte_p95_ms: number | null
}
