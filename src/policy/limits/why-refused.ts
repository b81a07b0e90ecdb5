import type { BudgetRefusal } from './budget-counters.ts'

/** `more`: what was not to be had of `need`. */
export function whyRefused({
  need,
  more,
  most,
  use,
  isCutOff,
}: Pick<BudgetRefusal, 'need' | 'most' | 'use'> & { more: bigint; isCutOff: boolean }): BudgetRefusal['why'] {
  if (Number(need) > most - use.used || most === 0) return 'spent'
  const isApart = use.shared !== undefined && BigInt(use.used + use.held) + more <= most
  // What others held when they were last heard of is old.
  if (isCutOff && (isApart || use.holders === 0 || use.shared?.elsewhere !== 0)) return 'cut off'
  return isApart ? 'apart' : 'held'
}
