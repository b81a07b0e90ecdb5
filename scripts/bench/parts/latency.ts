import { smallCall } from '../calls.ts'
import { drive } from '../load.ts'
import { median } from '../statistics.ts'
import type { Bench, Part, Target } from '../target.ts'

const blocks = 8
const blockSeconds = 0.3
const steadyRate = 500

/** What a gateway adds for one client alone, and the tail at a rate that none of them is pressed by. */
export const latency: Part = {
  name: 'latency',
  async measure(target, bench) {
    const through: number[] = []
    const direct: number[] = []
    // In turns, so that a slow moment of the machine falls on both.
    for (let block = 0; block < blocks; block++) {
      direct.push(await timeOneByOne(bench, bench.direct))
      through.push(await timeOneByOne(bench, target))
    }
    const steady = { connections: 256, perSecond: steadyRate }
    await drive(bench, target, smallCall(), { ...steady, seconds: 1 })
    const { p50Ms, p99Ms } = await drive(bench, target, smallCall(), { ...steady, seconds: bench.seconds })
    return { 'added-p50': median(through) - median(direct), 'steady-p50': p50Ms, 'steady-p99': p99Ms }
  },
}

/** Median of one client's answers, in milliseconds. */
async function timeOneByOne(bench: Bench, target: Target): Promise<number> {
  return (await drive(bench, target, smallCall(), { connections: 1, seconds: blockSeconds })).p50Ms
}
