import { type Call, chatCall, newAgent, send } from '../calls.ts'
import { loadSteadily } from '../load.ts'
import { quantile } from '../statistics.ts'
import type { Part, Target } from '../target.ts'

const blocks = 8
const perBlock = 150
const steadyRate = 500

/** What a gateway adds for one client alone, and the tail at a rate that none of them is pressed by. */
export const latency: Part = {
  name: 'latency',
  async measure(target, bench) {
    const call = chatCall('bench-small')
    const through: number[] = []
    const direct: number[] = []
    await timeOneByOne(target, call)
    // In turns, so that a slow moment of the machine falls on both.
    for (let block = 0; block < blocks; block++) {
      direct.push(...(await timeOneByOne(bench.direct, call)))
      through.push(...(await timeOneByOne(target, call)))
    }
    const steady = await loadSteadily(target, call, steadyRate, bench.seconds)
    return {
      'added-p50': quantile(through, 0.5) - quantile(direct, 0.5),
      'steady-p50': quantile(steady, 0.5),
      'steady-p99': quantile(steady, 0.99),
    }
  },
}

async function timeOneByOne(target: Target, call: Call): Promise<number[]> {
  const agent = newAgent()
  const times: number[] = []
  for (let count = 0; count < perBlock; count++) times.push((await send(agent, target, call)).totalMs)
  agent.destroy()
  // The first opens the connection.
  return times.slice(1)
}
