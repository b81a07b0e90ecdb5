/**
 * Amounts are whole nano-dollars (10⁻⁹ USD): 1,000 embedding tokens at $0.02 per million cost 20,000 of them, where
 * micro-dollars would make one token free or 50 times too dear. Rates are whole pico-dollars a unit, so that a sum is exact and
 * is rounded once, up.
 */
export const nanoPerUsd = 1e9
const picoPerNano = 1000n

/** USD per million units as pico-dollars a unit. */
export function picoPerToken(usdPerMillion: number): bigint {
  return BigInt(Math.round(usdPerMillion * 1e6))
}

/** USD a unit as pico-dollars a unit. */
export function picoPerUnit(usd: number): bigint {
  return BigInt(Math.round(usd * 1e12))
}

export function nanoOfPico(pico: bigint): bigint {
  return (pico + picoPerNano - 1n) / picoPerNano
}

/** Sums of amounts in USD, without what binary fractions add. */
export function roundUsd(usd: number): number {
  return nanoOfUsd(usd) / nanoPerUsd
}

/** All its digits, and never as a power: `0.0000001`. */
export function writeUsd(usd: number): string {
  return usd.toFixed(9).replace(/\.?0+$/, '')
}

/** Whole, so that sums in any order are the same. */
export function nanoOfUsd(usd: number): number {
  return Math.round(usd * nanoPerUsd)
}

/** Exact up to 8 million dollars. */
export function usdOfNano(nano: bigint): number {
  return Number(nano) / nanoPerUsd
}
