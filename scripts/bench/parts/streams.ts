import { setTimeout as sleep } from 'node:timers/promises'
import { chatCall, newAgent, send, verifyStream } from '../calls.ts'
import { cpuMicros, untilQuiet } from '../children.ts'
import { quantile } from '../statistics.ts'
import type { Part, Target } from '../target.ts'

const count = 300
const chunks = 80
const paceMs = 50
/** The streams begin evenly over this time. */
const rampMs = 1000

export const streams: Part = {
  name: `${count} streams`,
  async measure(target) {
    await playStreams(target, 30, 5, 20)
    await untilQuiet(target.pid)
    const before = cpuMicros(target.pid)
    const begun = performance.now()
    const answers = await playStreams(target, count, chunks, paceMs)
    const totalMs = performance.now() - begun
    await untilQuiet(target.pid)
    return {
      'chunk-cpu': (cpuMicros(target.pid) - before) / (count * chunks),
      'stream-first-byte-p50': quantile(
        answers.map(({ firstByteMs }) => firstByteMs),
        0.5,
      ),
      'streams-total': totalMs,
    }
  },
}

/** Plays so many checked streams at once. */
export async function playStreams(target: Target, howMany: number, chunksEach: number, pace: number) {
  const agent = newAgent()
  const call = chatCall(`bench-stream-${chunksEach}-${pace}`, true)
  const play = async (_: unknown, index: number) => {
    await sleep((index * rampMs) / howMany)
    const answer = await send(agent, target, call)
    verifyStream(target, answer.text, chunksEach)
    return answer
  }
  try {
    return await Promise.all(Array.from({ length: howMany }, play))
  } finally {
    agent.destroy()
  }
}
