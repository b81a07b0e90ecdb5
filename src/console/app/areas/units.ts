/** As the contract reads it back, with nothing lost. */
export function inUnits(milliseconds: number | null): string | null {
  if (milliseconds === null) return null
  if (milliseconds % 60_000 === 0) return `${milliseconds / 60_000}m`
  return milliseconds % 1000 === 0 ? `${milliseconds / 1000}s` : `${milliseconds}ms`
}

/** `1 route`, `3 routes`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
