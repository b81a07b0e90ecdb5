export interface SparklineProps {
  points: readonly number[]
  /** What it shows, for those who do not see it. */
  label: string
  width?: number
  height?: number
  tone?: 'accent' | 'bad'
}

/** Bars from the oldest to the newest, as high as the highest of them. */
export function Sparkline({ points, label, width = 120, height = 24, tone = 'accent' }: SparklineProps) {
  const top = Math.max(1, ...points)
  const step = width / Math.max(1, points.length)
  const bars = points.map((value, index) => {
    const size = value === 0 ? 1 : Math.max(2, (value / top) * height)
    return `M${(index * step).toFixed(2)} ${height}v${(-size).toFixed(2)}h${Math.max(1, step - 1).toFixed(2)}v${size.toFixed(2)}z`
  })
  return (
    <svg
      className={`sparkline sparkline-${tone}`}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      preserveAspectRatio="none"
      role="img"
    >
      <title>{label}</title>
      <path d={bars.join('')} />
    </svg>
  )
}
