import { smallCall, type Way } from '../calls.ts'
import { loadFully, warmUp } from '../load.ts'
import type { Part, TargetName } from '../target.ts'
import { costStreams } from './streams.ts'

const own: TargetName[] = ['spgw', 'beside']
/** Shorter than those of the part for streams: it is only asked whether the lane is another cost. */
const chunks = 40

/** The small request and the stream on the other lanes. */
export const lanes: readonly Part[] = [
  lanePart('anthropic', 'Anthropic lane', [...own, 'nginx', 'portkey', 'portkey-image']),
  lanePart('gemini', 'Gemini lane', [...own, 'nginx']),
]

function lanePart(way: Way, name: string, only: TargetName[]): Part {
  return {
    name,
    only,
    fullOnly: true,
    async measure(target, bench) {
      const { perSecond, cpuMicrosEach } = await loadFully(bench, target, smallCall(way), 32)
      const chunk = (await costStreams(bench, target, way, chunks)).cpuMicrosEach
      return { [`${way}-rate`]: perSecond, [`${way}-cpu`]: cpuMicrosEach, [`${way}-chunk-cpu`]: chunk }
    },
  }
}

/** With the provider behind TLS. */
export const overTls: Part = {
  name: 'provider over TLS',
  only: [...own, 'nginx', 'portkey', 'portkey-image'],
  fullOnly: true,
  possible: ({ tls }) => tls !== null,
  async measure(target, bench) {
    const { perSecond, cpuMicrosEach } = await loadFully(bench, target, smallCall('tls'), 32)
    return { 'tls-rate': perSecond, 'tls-cpu': cpuMicrosEach }
  },
}

/** With one data-plane thread and with two, both times on all cores, where the load is too. */
export const threadCounts: readonly Part[] = [threadsPart('one', 1), threadsPart('two', 2)]

function threadsPart(word: string, threads: number): Part {
  return {
    name: `${word} data-plane thread${threads > 1 ? 's' : ''} on all cores`,
    only: own,
    fullOnly: true,
    fresh: { threads, spread: true },
    async measure(target, bench) {
      await warmUp(bench, target)
      const { perSecond, cpuMicrosEach, p99Ms } = await loadFully(bench, target, smallCall(), 64)
      return { [`${word}-rate`]: perSecond, [`${word}-cpu`]: cpuMicrosEach, [`${word}-p99`]: p99Ms }
    },
  }
}
