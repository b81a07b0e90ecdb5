import { parentPort, workerData } from 'node:worker_threads'
import { attachHealth } from '../../src/routing/health.ts'
import { meeting } from '../support/meeting.ts'

const { gate, now, slots, threads } = workerData
const health = attachHealth(workerData.buffer)
const meet = meeting(workerData.arrived, threads)
parentPort?.postMessage('up')
Atomics.wait(new Int32Array(gate), 0, 0)

const granted: number[] = []
for (let slot = 0; slot < slots; slot++) {
  meet(slot)
  const entry = health.enter({ slot, model: '', pattern: null }, null, now)
  if (entry?.target?.shared === 'probe') granted.push(slot)
}
parentPort?.postMessage(granted)
