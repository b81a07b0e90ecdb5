import { parentPort, workerData } from 'node:worker_threads'
import { attachHealth } from '../../src/routing/health.ts'

const health = attachHealth(workerData.buffer)
const { gate, now, slots } = workerData
parentPort?.postMessage('up')
Atomics.wait(new Int32Array(gate), 0, 0)
const granted: number[] = []
for (let slot = 0; slot < slots; slot++) if (health.enter(slot, now) === 'probe') granted.push(slot)
parentPort?.postMessage(granted)
