import { setTimeout as sleep } from 'node:timers/promises'
import { type BenchKey, type Call, streamCall, type Way } from '../calls.ts'
import { cpuMicros, untilQuiet } from '../children.ts'
import { newAgent, send, verifyStream } from '../client.ts'
import { warmUpSeconds } from '../load.ts'
import { quantile } from '../statistics.ts'
import type { Bench, Part, Target } from '../target.ts'

const count = 300
const chunks = 80
const paceMs = 50
/** The streams begin evenly over this time. */
const rampMs = 1000

export const streams: Part = {
  name: `${count} streams`,
  async measure(target, bench) {
    const { answers, cpuMicrosEach, totalMs } = await costStreams(bench, target, 'openai', chunks)
    const firstBytes = answers.map(({ firstByteMs }) => firstByteMs)
    return {
      'chunk-cpu': cpuMicrosEach,
      'stream-first-byte-p50': quantile(firstBytes, 0.5),
      'streams-total': totalMs,
    }
  },
}

/** What a chunk costs when 300 streams run. */
export async function costStreams(bench: Bench, target: Target, way: Way, chunksEach: number) {
  const warmUpMs = warmUpSeconds(bench, target) * 1000
  await playStreams(target, way, count, Math.round(warmUpMs / paceMs), paceMs)
  await untilQuiet(target.pid)
  const before = cpuMicros(target.pid)
  const begun = performance.now()
  const answers = await playStreams(target, way, count, chunksEach, paceMs)
  const totalMs = performance.now() - begun
  await untilQuiet(target.pid)
  return { answers, totalMs, cpuMicrosEach: (cpuMicros(target.pid) - before) / (count * chunksEach) }
}

/** Plays so many checked streams at once. */
export async function playStreams(
  target: Target,
  way: Way,
  howMany: number,
  chunksEach: number,
  pace: number,
  key?: BenchKey,
) {
  const agent = newAgent()
  const call: Call = { ...streamCall(way, chunksEach, pace), ...(key === undefined ? {} : { key }) }
  const play = async (_: unknown, index: number) => {
    await sleep((index * rampMs) / howMany)
    const answer = await send(agent, target, call)
    verifyStream(target, call, answer.text, chunksEach)
    return answer
  }
  try {
    return await Promise.all(Array.from({ length: howMany }, play))
  } finally {
    agent.destroy()
  }
}
