import { drawBars } from './sparkline-bars.ts'

export interface SparklineProps {
  points: readonly number[]
  /** The part of each point that failed. */
  failed?: readonly number[]
  /** What it shows, for those who do not see it. */
  label: string
  width?: number
  height?: number
}

/** Bars from the oldest to the newest, as high as the highest of them. */
export function Sparkline({ points, failed = [], label, width = 120, height = 24 }: SparklineProps) {
  const space = { width, height, top: Math.max(1, ...points) }
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      preserveAspectRatio="none"
      role="img"
    >
      <title>{label}</title>
      <path d={drawBars(points, space, 1)} />
      <path className="sparkline-failed" d={drawBars(failed, space, 0)} />
    </svg>
  )
}
