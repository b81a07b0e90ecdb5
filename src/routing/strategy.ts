import { usdOfNano, writeUsd } from '../core/cost/money.ts'
import type { Signal } from '../core/record.ts'
import { flatText } from '../core/text/flat-text.ts'
import type { SnapshotProvider, SnapshotRoute } from '../store/configuration/snapshot.ts'
import type { Candidate } from './candidates.ts'
import type { HealthTarget } from './health.ts'
import type { LatencyFigure } from './latency-figures.ts'

/** What is known of targets for the call that is planned. */
export interface Figures {
  /** Of calls of its kind, streamed or whole; null: none has been measured yet. */
  latencyOf(target: HealthTarget): LatencyFigure | null
  /** What it would cost there, estimated, in nano-dollars; null: there is no price. */
  costOf(provider: SnapshotProvider, model: string): bigint | null
}

interface OrderQuery {
  now: number
  random(): number
  figures: Figures
}

interface Ordered {
  ordered: Candidate[]
  signal: Signal | null
}

/**
 * Puts candidates, given by priority, into the order in which the route's strategy tries them. Strategies choose among targets
 * of one priority: those of the next come after all of them.
 */
export function orderCandidates(
  strategy: SnapshotRoute['strategy'],
  candidates: Candidate[],
  query: OrderQuery,
): Ordered {
  switch (strategy) {
    case 'priority':
      return { ordered: candidates, signal: null }
    case 'weighted':
      return { ordered: drawByWeight(candidates, query), signal: weightedSignal(candidates) }
    case 'latency': {
      const known = lookUp(candidates, query)
      return { ordered: inGroups(known, (group) => byLatency(group, query)), signal: latencySignal(known) }
    }
    case 'cost': {
      const known = lookUp(candidates, query)
      return { ordered: inGroups(known, byCost), signal: costSignal(known) }
    }
  }
}

/** A candidate with what its strategy goes by. */
interface Known {
  candidate: Candidate
  latency: LatencyFigure | null
  cost: bigint | null
}

function lookUp(candidates: Candidate[], { figures }: OrderQuery): Known[] {
  return candidates.map((candidate) => ({
    candidate,
    latency: figures.latencyOf(candidate.watched),
    cost: figures.costOf(candidate.provider, candidate.upstreamModel),
  }))
}

/** `known` is by priority. */
function inGroups(known: Known[], order: (group: Known[]) => Known[]): Candidate[] {
  const groups = Map.groupBy(known, ({ candidate }) => candidate.target.priority)
  return [...groups.values()]
    .flatMap((group) => (group.length > 1 ? order(group) : group))
    .map(({ candidate }) => candidate)
}

/** An exponential variate by weight for each; sorted, they are a draw without replacement (Efraimidis and Spirakis). */
function drawByWeight(candidates: Candidate[], { random }: OrderQuery): Candidate[] {
  return candidates
    .map((candidate) => ({ candidate, turn: -Math.log(1 - random()) / candidate.target.weight }))
    .sort((one, other) => one.candidate.target.priority - other.candidate.target.priority || one.turn - other.turn)
    .map(({ candidate }) => candidate)
}

/** How often a target whose figure is old is tried in place of the better one: it may have become faster. */
const exploredShare = 0.05
const oldMs = 30_000

/**
 * The faster of two that are drawn goes first, so that not all calls run to the one that is fastest now; then the others, the
 * fastest first. A new target counts as the median of those that are known.
 */
function byLatency(group: Known[], { random, now }: OrderQuery): Known[] {
  const median = medianOf(group.flatMap(({ latency }) => latency?.ms ?? []))
  const msOf = ({ latency }: Known) => latency?.ms ?? median
  const explored = random() < exploredShare ? oldest(group, now) : null
  const first = explored ?? fasterOfTwo(group, msOf, random)
  return [first, ...group.filter((each) => each !== first).sort((one, other) => msOf(one) - msOf(other))]
}

function fasterOfTwo(group: Known[], msOf: (each: Known) => number, random: () => number): Known {
  const one = Math.floor(random() * group.length)
  const other = (one + 1 + Math.floor(random() * (group.length - 1))) % group.length
  const [first, second] = [group[one], group[other]]
  if (first === undefined || second === undefined) throw new Error('a strategy was asked to choose from nothing')
  return msOf(second) < msOf(first) ? second : first
}

function oldest(group: Known[], now: number): Known | null {
  const old = group.filter(({ latency }) => latency === null || latency.at < now - oldMs)
  return old.reduce<Known | null>((found, each) => (found === null || age(each) < age(found) ? each : found), null)
}

const age = ({ latency }: Known) => latency?.at ?? 0

function medianOf(values: number[]): number {
  const sorted = values.sort((one, other) => one - other)
  const half = sorted.length / 2
  return ((sorted[Math.ceil(half) - 1] ?? 0) + (sorted[Math.floor(half)] ?? 0)) / 2
}

/** The cheapest first, of equally cheap ones the fastest; those without a price last. */
function byCost(group: Known[]): Known[] {
  return group.toSorted(
    (one, other) =>
      compare(one.cost, other.cost) || (one.latency?.ms ?? Infinity) - (other.latency?.ms ?? Infinity) || 0,
  )
}

function compare(one: bigint | null, other: bigint | null): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null)
  return one < other ? -1 : Number(one > other)
}

function weightedSignal(candidates: Candidate[]): Signal {
  const weights = candidates.map(({ provider, target }) => `${provider.name} ${target.weight}`).join(', ')
  return note('weighted', `Drawn by weight: ${weights}.`)
}

function latencySignal(known: Known[]): Signal {
  const figures = known.map(({ candidate, latency }) => `${candidate.provider.name} ${showLatency(latency)}`)
  return note('latency', `Chosen by latency: ${figures.join(', ')}.`)
}

function costSignal(known: Known[]): Signal {
  const figures = known.map(({ candidate, cost }) => `${candidate.provider.name} ${showCost(cost)}`)
  return note('cost', `Chosen by estimated cost: ${figures.join(', ')}.`)
}

function note(strategy: SnapshotRoute['strategy'], text: string): Signal {
  return { rule: 'strategy', verdict: 'note', text: flatText(text), data: { strategy } }
}

function showLatency(latency: LatencyFigure | null): string {
  return latency === null ? 'not measured yet' : `${latency.ms} ms`
}

function showCost(nano: bigint | null): string {
  return nano === null ? 'without a price' : `$${writeUsd(usdOfNano(nano))}`
}
