import { valueAt } from '../../src/admin/contract/show-value.ts'
import type { TextTheme } from '../screen.ts'
import { numberAt } from '../status-watch.ts'

const levels = '▁▂▃▄▅▆▇█'
const mostBars = 90

/** A bar a step of what `requests series` or `providers attempts` answers; no line where nothing came. */
export function drawTraffic(series: unknown, width: number, theme: TextTheme): string[] {
  return drawBars(pointsOf(series), width, theme)
}

/** A bar a point; no line where all are nothing. */
export function drawBars(points: readonly number[], width: number, theme: TextTheme): string[] {
  const bars = sparkline(points, Math.min(mostBars, width))
  return bars === '' ? [] : [paintBars(bars, theme)]
}

function pointsOf(series: unknown): number[] {
  const groups = valueAt(series, 'groups')
  const points = Array.isArray(groups) ? valueAt(groups[0], 'points') : valueAt(series, 'points')
  if (!Array.isArray(points)) return []
  return points.map((point) => numberAt(point, 'requests') ?? numberAt(point, 'tried') ?? 0)
}

/** Where nothing came, the line is only hinted at. */
function paintBars(bars: string, theme: TextTheme): string {
  return bars.replace(/·+|[^·]+/g, (run) => theme.paint(run.startsWith('·') ? 'quiet' : 'good', run))
}

/** A bar for each point, the last on the right; as high as its share of the highest. */
export function sparkline(points: readonly number[], width: number): string {
  const seen = points.slice(-width)
  const most = Math.max(0, ...seen)
  if (most === 0) return ''
  return seen.map((point) => (point === 0 ? '·' : (levels[Math.ceil((point / most) * 8) - 1] ?? ' '))).join('')
}
