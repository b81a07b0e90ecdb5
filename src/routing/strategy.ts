import type { Signal } from '../core/record.ts'
import type { SnapshotRoute } from '../store/configuration/snapshot.ts'
import type { Candidate } from './candidates.ts'

/**
 * Puts candidates, given by priority, into the order in which the route's strategy tries them. Among equal priorities
 * `weighted` draws without putting back, so that each first place goes by weight; a weight of 0 is only ever a reserve.
 */
export function orderCandidates(
  strategy: SnapshotRoute['strategy'],
  candidates: Candidate[],
  random: () => number,
): { ordered: Candidate[]; signal: Signal | null } {
  if (strategy === 'priority') return { ordered: candidates, signal: null }
  if (strategy === 'weighted') return { ordered: drawByWeight(candidates, random), signal: weightedSignal(candidates) }
  const text = describeMissingFigures(strategy)
  return { ordered: candidates, signal: { rule: 'strategy', verdict: 'note', text, data: { strategy } } }
}

/** An exponential variate by weight for each; sorted, they are a draw without replacement (Efraimidis and Spirakis). */
function drawByWeight(candidates: Candidate[], random: () => number): Candidate[] {
  return candidates
    .map((candidate) => ({ candidate, turn: turnOf(candidate.target.weight, random) }))
    .sort(
      (one, other) => one.candidate.target.priority - other.candidate.target.priority || compare(one.turn, other.turn),
    )
    .map(({ candidate }) => candidate)
}

function turnOf(weight: number, random: () => number): number {
  return weight > 0 ? -Math.log(1 - random()) / weight : Number.POSITIVE_INFINITY
}

/** A plain difference of two infinities would be no number. */
function compare(one: number, other: number): number {
  return one === other ? 0 : one < other ? -1 : 1
}

function weightedSignal(candidates: Candidate[]): Signal {
  const weights = candidates.map(({ provider, target }) => `${provider.name} ${target.weight}`).join(', ')
  return { rule: 'strategy', verdict: 'note', text: `Drawn by weight: ${weights}.`, data: { strategy: 'weighted' } }
}

/** Latency and cost are accepted ahead of the figures that they order by. */
export function describeMissingFigures(strategy: 'latency' | 'cost'): string {
  return `The strategy ${strategy} has no figures to go by yet: targets are taken by priority.`
}
