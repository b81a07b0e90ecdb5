import { parentPort, workerData } from 'node:worker_threads'
import { LimitCounters } from '../../../src/policy/limits/limit-counters.ts'

const { memory, thread, gate, limits, rounds, noon, day, threads, ended } = workerData
const counters = new LimitCounters(memory, thread, () => 1_000_000)
parentPort?.postMessage('up')
Atomics.wait(new Int32Array(gate), 0, 0)

const spent = [0, 0, 0]
/** How many threads have done with each day. */
const done = new Int32Array(ended)
for (const [index] of spent.entries()) {
  // The day after tomorrow has the place of today, and nobody is so late.
  for (let all = 0; index === 2 && all < threads; all = Atomics.load(done, 0)) Atomics.wait(done, 0, all, 100)
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
  Atomics.add(done, index, 1)
  Atomics.notify(done, index)
}
parentPort?.postMessage({ spent })
