import type { PeriodUse } from './period-row.ts'

/**
 * `closed`: what was spent before the process began is not counted yet. `held`: running requests hold what is missing, or other nodes
 * have it in hand. `over`: it began so long ago that its period is no longer counted. `apart`: by what is known here there is room, but
 * this node was not given it. `cut off`: the same of a node that can be given nothing.
 */
export type WhyRefused = 'closed' | 'held' | 'over' | 'spent' | 'apart' | 'cut off'

/** `more`: what was not to be had of `need`. */
export function whyRefused({
  need,
  more,
  most,
  use,
  isCutOff,
}: {
  need: bigint
  more: bigint
  most: number
  use: PeriodUse
  isCutOff: boolean
}): WhyRefused {
  if (Number(need) > most - use.used || most === 0) return 'spent'
  const isApart = use.shared !== undefined && BigInt(use.used + use.held) + more <= most
  // What others held when they were last heard of is old.
  if (isCutOff && (isApart || use.holders === 0 || use.shared?.elsewhere !== 0)) return 'cut off'
  return isApart ? 'apart' : 'held'
}
