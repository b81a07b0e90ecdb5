import type { TimeLimits } from '../../core/lane.ts'
import { parseMoment } from '../../core/moment.ts'
import { parseDuration } from '../../core/units.ts'
import { invalid } from './fault.ts'

/** Texts here have passed the contract's schemas. */

export function readDuration(text: string): number {
  const milliseconds = parseDuration(text)
  if (milliseconds === null) throw new RangeError(`not a duration: ${text}`)
  return milliseconds
}

/** A duration counts from now, back or ahead; a time stands for itself. RFC 3339 UTC. */
export function readMoment(text: string, direction: 'back' | 'ahead', now = Date.now()): string {
  const duration = parseDuration(text)
  if (duration === null) return new Date(parseMoment(text) ?? Number.NaN).toISOString()
  return new Date(direction === 'back' ? now - duration : now + duration).toISOString()
}

/** When a key or a token ends. In the past it would be made for nothing. */
export function readEnd(text: string, now = Date.now()): string {
  const end = readMoment(text, 'ahead', now)
  if (Date.parse(end) > now) return end
  throw invalid(
    'It would expire at once.',
    'Give a duration such as 30d or a time in the future. To end it now, revoke it.',
  )
}

export interface TimeoutInput {
  timeoutConnect?: string | undefined
  timeoutFirstByte?: string | undefined
  timeoutBetweenChunks?: string | undefined
  timeoutTotal?: string | undefined
}

/** The limits with those that are given in place of what was. */
export function readTimeouts(input: TimeoutInput, before: Partial<TimeLimits> = {}): Partial<TimeLimits> {
  const timeouts = { ...before }
  if (input.timeoutConnect !== undefined) timeouts.connect = readDuration(input.timeoutConnect)
  if (input.timeoutFirstByte !== undefined) timeouts.firstByte = readDuration(input.timeoutFirstByte)
  if (input.timeoutBetweenChunks !== undefined) timeouts.betweenChunks = readDuration(input.timeoutBetweenChunks)
  if (input.timeoutTotal !== undefined) timeouts.total = readDuration(input.timeoutTotal)
  return timeouts
}

export function showTimeouts(timeouts: Partial<TimeLimits>) {
  return {
    connect_ms: timeouts.connect ?? null,
    first_byte_ms: timeouts.firstByte ?? null,
    between_chunks_ms: timeouts.betweenChunks ?? null,
    total_ms: timeouts.total ?? null,
  }
}

/** Pairs put over pairs; an empty value removes its name. */
export function mergePairs<Value>(
  before: Record<string, Value>,
  change: Record<string, Value> | undefined,
): Record<string, Value> {
  return Object.fromEntries(Object.entries({ ...before, ...change }).filter(([, value]) => value !== ''))
}
