import { setTimeout as sleep } from 'node:timers/promises'
import { largeCall, smallCall } from '../calls.ts'
import { residentBytes, untilQuiet } from '../children.ts'
import { drive } from '../load.ts'
import type { Part } from '../target.ts'
import { playStreams } from './streams.ts'

const restMs = 10_000

/** What a process keeps of a load that is over. */
export const after: Part = {
  name: 'memory after load',
  fullOnly: true,
  fresh: {},
  async measure(target, bench) {
    await drive(bench, target, smallCall(), { connections: 64, seconds: bench.seconds })
    await drive(bench, target, largeCall('image'), { connections: 4, seconds: bench.seconds / 2 })
    await playStreams(target, 'openai', 300, 20, 50)
    await untilQuiet(target.pid)
    await sleep(restMs)
    return { 'after-mb': residentBytes(target.pid) / 1e6 }
  },
}
