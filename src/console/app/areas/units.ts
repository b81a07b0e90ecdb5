import { formatDuration } from '../../../core/units.ts'

/** A duration as the contract reads it back, with nothing lost. */
export function durationText(milliseconds: number | null): string | null {
  return milliseconds === null ? null : formatDuration(milliseconds)
}

/** `1 route`, `3 routes`. */
export function pluralize(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
