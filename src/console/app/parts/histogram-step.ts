export interface HistogramStep {
  /** Its start, in milliseconds since the epoch. */
  time: number
  good: number
  warning: number
  bad: number
}
