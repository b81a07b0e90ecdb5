export interface BarSpace {
  width: number
  height: number
  /** The value whose bar is as high as the space. */
  top: number
}

/** A path of bars from the oldest to the newest. `least`: the height of a bar for nothing; 0 leaves it out. */
export function drawBars(values: readonly number[], { width, height, top }: BarSpace, least: number): string {
  const step = width / Math.max(1, values.length)
  const bars = values.map((value, index) => {
    const size = value === 0 ? least : Math.max(2, (value / Math.max(1, top)) * height)
    if (size === 0) return ''
    return `M${(index * step).toFixed(2)} ${height}v${(-size).toFixed(2)}h${Math.max(1, step - 1).toFixed(2)}v${size.toFixed(2)}z`
  })
  return bars.join('')
}
