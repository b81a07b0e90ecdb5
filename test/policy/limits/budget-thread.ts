import { parentPort, workerData } from 'node:worker_threads'
import { LimitCounters } from '../../../src/policy/limits/limit-counters.ts'

const { memory, thread, gate, limits, rounds, noon, day } = workerData
const counters = new LimitCounters(memory, thread, () => 1_000_000)
parentPort?.postMessage('up')
Atomics.wait(new Int32Array(gate), 0, 0)

const spent = [0, 0, 0]
for (const [index] of spent.entries()) {
  const moment = { timeZone: 'UTC', now: noon + index * day }
  for (let round = 0; round < rounds; round++) {
    const hold = counters.admit(limits, null, { requests: 1, tokens: 0 })
    if (!('taken' in hold)) continue
    const amount = 1 + ((round * 7 + thread) % 50)
    if (counters.holdBudgets(hold, { usd: BigInt(amount), tokens: 1 }, moment) === null) {
      const actual = round % 3 === 0 ? 0 : Math.ceil(amount / 2)
      hold.actual = { usd: BigInt(actual), tokens: 1 }
      spent[index] = (spent[index] ?? 0) + actual
    }
    counters.release(hold)
  }
}
parentPort?.postMessage({ spent })
