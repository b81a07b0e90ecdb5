import { parentPort, workerData } from 'node:worker_threads'
import { LimitCounters } from '../../../src/policy/limits/limit-counters.ts'

const { memory, thread, gate, limits, rounds } = workerData
let now = 100_000
const counters = new LimitCounters(memory, thread, () => now)
parentPort?.postMessage('up')
Atomics.wait(new Int32Array(gate), 0, 0)

let granted = 0
let most = 0
for (let round = 0; round < rounds; round++) {
  // Every thread is at another moment of the same minute.
  now = 100_000 + ((round * 7 + thread * 13) % 50_000)
  const hold = counters.admit(limits, null, { requests: 1, tokens: 5 })
  most = Math.max(most, counters.used(limits[0]))
  if (!('taken' in hold)) continue
  granted++
  counters.correctTokens(hold, round % 2 === 0 ? 5 : 3)
  counters.release(hold)
}
parentPort?.postMessage({ granted, most })
