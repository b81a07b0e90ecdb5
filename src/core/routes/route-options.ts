import { formatDuration, parseDuration } from '../units.ts'
import { parseTarget, writeTarget } from './written-target.ts'

/** A second target is asked as well where the first has been silent for long; the faster answer passes. */
export interface RouteHedge {
  /** Milliseconds; `p95`: as long as 95 of 100 calls of the route take. */
  after: number | 'p95'
  /** Percent of the route's requests, at most. */
  share: number
}

/** Each answered request goes there once more, for comparison; nobody gets that answer. */
export interface RouteShadow {
  providerId: string
  /** null: the same name that the client asked for. */
  upstreamModel: string | null
}

export const usualHedgeShare = 5
/** Sooner, nearly every request would be asked twice. */
const shortestHedgeMs = 10
const longestHedgeMs = 600_000

/** `120ms`, `2s` or `p95`; null: neither, or beyond all sense. */
export function parseHedgeAfter(text: string): RouteHedge['after'] | null {
  if (text === 'p95') return text
  const ms = parseDuration(text)
  return ms === null || ms < shortestHedgeMs || ms > longestHedgeMs ? null : ms
}

export const hedgeAfterForm = 'a duration from 10ms to 10m, or p95'

export function writeHedgeAfter(after: RouteHedge['after']): string {
  return after === 'p95' ? after : formatDuration(after)
}

/** `PROVIDER[:MODEL]`; null: it is none. */
export function parseShadow(text: string): { provider: string; upstreamModel: string | null } | null {
  const target = parseTarget(text)
  return target === null || target.weight !== null || target.priority !== null || target.format !== null ? null : target
}

export function writeShadow(provider: string, upstreamModel: string | null): string {
  return writeTarget({ provider, upstreamModel, weight: null, priority: null, format: null })
}
