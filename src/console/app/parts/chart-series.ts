export interface ChartSeries {
  name: string
  values: readonly (number | null)[]
  /** A custom property such as `--good`; default: the next of the chart colours. */
  colour?: string
}
