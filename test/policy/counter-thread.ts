import { parentPort, workerData } from 'node:worker_threads'
import { attachCounters } from '../../src/policy/counters.ts'
import { meeting } from '../support/meeting.ts'

const { buffer, layout, thread, gate, limit, rounds, arrived } = workerData
const meet = meeting(arrived, layout.threads)
const counters = attachCounters(buffer, layout, thread)
parentPort?.postMessage('up')
Atomics.wait(new Int32Array(gate), 0, 0)

let spent = 0
let refused = 0
let overspent = 0
for (let round = 0; round < rounds; round++) {
  if (round % 10 === 0) meet(round / 10)
  const amount = 1 + ((round * 7 + thread) % 50)
  const reservation = counters.reserve(1, amount, limit)
  if (counters.read(1) > limit) overspent++
  if (!reservation.granted) {
    refused++
    continue
  }
  // Every third comes to nothing, the others to at most what was held.
  const actual = round % 3 === 0 ? 0 : Math.ceil(amount / 2)
  counters.settle(1, amount, actual)
  spent += actual
}
counters.reserve(0, thread + 1, Number.POSITIVE_INFINITY)
parentPort?.postMessage({ spent, refused, overspent })
