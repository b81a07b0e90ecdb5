import type { RouteTarget } from '../outputs.ts'

export interface TargetTraffic {
  tried: number
  failed: number
  /** Of the attempts that the route made, 0 to 1. */
  share: number
  p95: number | null
}

interface TrafficRow {
  provider: string
  upstream_model: string
  tried: number
  failed: number
  share: number
  duration_p95_ms: number | null
}

type TrafficTarget = Pick<RouteTarget, 'provider' | 'upstream_model'>

/** What of the route's traffic went to a target; null: none did. One that keeps the client's names gets many of them. */
export function trafficOf(
  target: TrafficTarget,
  all: readonly TrafficTarget[],
  rows: readonly TrafficRow[],
): TargetTraffic | null {
  const own = rows.filter((row) => row.provider === target.provider && isServedBy(target, all, row.upstream_model))
  if (own.length === 0) return null
  const worst = own.map(({ duration_p95_ms }) => duration_p95_ms).filter((value) => value !== null)
  return {
    tried: sum(own, ({ tried }) => tried),
    failed: sum(own, ({ failed }) => failed),
    share: sum(own, ({ share }) => share),
    // A p95 of several groups is not theirs put together: the worst of them is what one must reckon with.
    p95: worst.length === 0 ? null : Math.max(...worst),
  }
}

function isServedBy(target: TrafficTarget, all: readonly TrafficTarget[], model: string): boolean {
  if (target.upstream_model !== null) return target.upstream_model === model
  return !all.some(({ provider, upstream_model }) => provider === target.provider && upstream_model === model)
}

function sum(rows: readonly TrafficRow[], read: (row: TrafficRow) => number): number {
  return rows.reduce((total, row) => total + read(row), 0)
}
