import { addLatencies, firstBytePlace } from '../../src/store/records/latency-blob.ts'

/** The counts of latencies as bytes, by place. */
export function readLatencies(bytes: Uint8Array): Map<number, number> {
  const found = new Map<number, number>()
  const durations = { many: null, addStep: (step: number, count: number) => void found.set(step, count) }
  const firstBytes = {
    many: null,
    addStep: (step: number, count: number) => void found.set(firstBytePlace(step), count),
  }
  addLatencies(bytes, 1, durations, firstBytes)
  return found
}
