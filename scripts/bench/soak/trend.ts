/** A straight line through samples: what it rises by in an hour, and the standard error of that. */
export interface Trend {
  perHour: number
  error: number
  mean: number
}

/** Least squares. `hours` and `values` belong together; NaN of fewer than three samples. */
export function fitTrend(hours: readonly number[], values: readonly number[]): Trend {
  const count = hours.length
  const middle = average(hours)
  const mean = average(values)
  const spread = hours.reduce((sum, hour) => sum + (hour - middle) ** 2, 0)
  const together = hours.reduce((sum, hour, index) => sum + (hour - middle) * ((values[index] ?? mean) - mean), 0)
  const perHour = together / spread
  const left = hours.reduce((sum, hour, index) => {
    return sum + ((values[index] ?? mean) - mean - perHour * (hour - middle)) ** 2
  }, 0)
  const error = count < 3 ? Number.NaN : Math.sqrt(left / (count - 2) / spread)
  return { perHour, error, mean }
}

/**
 * Growing only when the slope is more than its error and than noise can explain: neighbouring samples are alike, so the
 * error of the fit is too small.
 */
export function isFlat({ perHour, error, mean }: Trend, hours: number): boolean {
  const rise = perHour * hours
  return !(perHour > 3 * error && rise > mean * 0.03)
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
