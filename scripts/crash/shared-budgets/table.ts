import { seededRandom } from '../random.ts'
import { type Simulated, type SimulationResult, simulate } from './simulation.ts'

type Case = Omit<Simulated, 'seed'>

const usd = 1e9
const faults = { deaths: 45, partitions: 75, failovers: 200 }
const base = { nodes: 8, requests: 200, seconds: 150, skew: null, faults } as const

/** Budgets that are used up in three quarters of the time, and what happens then. */
const cases: Record<string, Case> = {
  '120 USD': { ...base, most: 120 * usd, cost: 0.0053 * usd },
  '120 USD, one node has 60%': { ...base, most: 120 * usd, cost: 0.0053 * usd, skew: 0.6 },
  '5 USD': { ...base, most: 5 * usd, cost: 0.00022 * usd },
  '5 cents': { ...base, most: 0.05 * usd, cost: 0.0000022 * usd },
  '5 cents, holds of half a percent': { ...base, most: 0.05 * usd, cost: 0.0001 * usd, requests: 5 },
  '120 USD, no faults': { ...base, most: 120 * usd, cost: 0.0053 * usd, faults: null },
  'PostgreSQL away for 100 s, ten times the spend left': {
    ...{ ...base, most: 1200 * usd, cost: 0.0053 * usd, faults: null, away: [20, 120] as [number, number] },
  },
  'PostgreSQL away for 100 s, used up meanwhile': {
    ...{ ...base, most: 60 * usd, cost: 0.0053 * usd, faults: null, away: [20, 120] as [number, number] },
  },
}

/** Seeds of the runs in which a budget was overspent, of so many under every fault. */
export function simulateHostile(runs: number, seed: number): number[] {
  const failed: number[] = []
  for (let own = seed; own < seed + runs; own++) {
    const random = seededRandom(own)
    const most = random.pick([0.05, 5, 120]) * usd
    const cost = Math.round(most / random.between(300, 1500))
    const shape = { nodes: random.between(2, 9), seconds: random.between(20, 60), skew: random.pick([null, 0.6]) }
    const { overspent } = simulate({
      ...{ ...shape, seed: own, most, cost, requests: 40 },
      faults: { deaths: random.between(5, 30), partitions: random.between(5, 30), failovers: random.between(8, 60) },
    })
    if (overspent > 0) failed.push(own)
  }
  return failed
}

export interface SimulatedCase {
  name: string
  overspent: number
  /** Shares: of the budget; and of all requests. */
  unused: number
  refused: number
  refusedWithRoom: number
  waited: number
  calls: number
}

/** One row a case, over so many seeds. */
export function simulateCases(seeds: number): SimulatedCase[] {
  return Object.entries(cases).map(([name, each]) => {
    const results = Array.from({ length: seeds }, (_, seed) => simulate({ ...each, seed: seed + 1 }))
    const sum = (of: (result: SimulationResult) => number) => results.reduce((whole, result) => whole + of(result), 0)
    const requests = sum((result) => result.requests)
    return {
      ...{ name, overspent: Math.max(...results.map(({ overspent, most }) => overspent / most)) },
      ...{ unused: sum(({ unused }) => unused) / seeds, refused: sum(({ refused }) => refused) / requests },
      refusedWithRoom: sum((result) => result.refusedWithRoom) / requests,
      waited: sum(({ waited }) => waited) / requests,
      calls: sum(({ calls }) => calls) / requests,
    }
  })
}

export function renderCases(rows: readonly SimulatedCase[]): string {
  const percent = (share: number) => `${(share * 100).toFixed(share > 0 && share < 0.001 ? 4 : 2)} %`
  return [
    '| | overspent | unused | refused | refused with room somewhere | waited | calls a request |',
    '|---|---:|---:|---:|---:|---:|---:|',
    ...rows.map(
      ({ name, overspent, unused, refused, refusedWithRoom, waited, calls }) =>
        `| ${name} | ${percent(overspent)} | ${percent(unused)} | ${percent(refused)} | ${percent(refusedWithRoom)} | ${percent(waited)} | ${calls.toFixed(4)} |`,
    ),
  ].join('\n')
}
