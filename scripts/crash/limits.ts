import { ClusterSimulation, type Outcome } from '../../test/support/limits/cluster-simulation.ts'

const seconds = 600

interface LimitRun {
  runs: number
  seed: number
}

/** Simulates limits that nodes share, calm and with faults. The table of decision 0066, and how many spans were above a limit. */
export function runLimits({ runs, seed }: LimitRun): { table: string; above: number } {
  const lines = [
    '| nodes | limit | asked for | | refused with room | calls a second and node |',
    '|---:|---:|---:|---|---:|---:|',
  ]
  let [above, spans] = [0, 0]
  for (const nodes of [3, 8])
    for (const limit of [5, 60, 600])
      for (const load of [1.3, 0.2])
        for (const faultEveryMs of [null, 40_000]) {
          const sum = addUp({ nodes, limit, load, faultEveryMs }, runs, seed)
          above += sum.above
          spans += sum.spans
          const refused = `${((100 * sum.refusedWithRoom) / Math.max(1, sum.asked)).toFixed(1)}%`
          const calls = (sum.calls / nodes / seconds / runs).toFixed(2)
          const kind = faultEveryMs === null ? 'calm' : 'faults'
          lines.push(`| ${nodes} | ${limit} | ${load} × | ${kind} | ${refused} | ${calls} |`)
        }
  return { table: `${lines.join('\n')}\n${above} of ${spans} spans of 60 s above the limit\n`, above }
}

function addUp(
  scenario: { nodes: number; limit: number; load: number; faultEveryMs: number | null },
  runs: number,
  seed: number,
): Outcome {
  const sum: Outcome = { spans: 0, above: 0, most: 0, asked: 0, admitted: 0, refusedWithRoom: 0, calls: 0 }
  for (let run = 0; run < runs; run++) {
    const uneven = run % 2 === 0 ? null : 0.6
    const outcome = new ClusterSimulation({ ...scenario, seed: seed + run, uneven, seconds }).run()
    for (const name of ['spans', 'above', 'asked', 'admitted', 'refusedWithRoom', 'calls'] as const)
      sum[name] += outcome[name]
  }
  return sum
}
