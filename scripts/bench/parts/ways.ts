import { chatCall, laneCall } from '../calls.ts'
import { loadFully } from '../load.ts'
import type { Part } from '../target.ts'

/** The small request on the other lanes. */
export const lanes: Part = {
  name: 'other lanes',
  only: ['spgw', 'beside'],
  fullOnly: true,
  async measure(target, bench) {
    const anthropic = await loadFully(bench, target, laneCall('anthropic'), 32)
    const gemini = await loadFully(bench, target, laneCall('gemini'), 32)
    return {
      'anthropic-rate': anthropic.perSecond,
      'anthropic-cpu': anthropic.cpuMicrosEach,
      'gemini-rate': gemini.perSecond,
      'gemini-cpu': gemini.cpuMicrosEach,
    }
  },
}

/** The same with two data-plane threads, on all cores. */
export const twoThreads: Part = {
  name: 'two threads',
  only: ['spgw', 'beside'],
  fullOnly: true,
  fresh: { threads: 2 },
  async measure(target, bench) {
    const { perSecond, cpuMicrosEach } = await loadFully(bench, target, chatCall('bench-small'), 64)
    return { 'two-threads-rate': perSecond, 'two-threads-cpu': cpuMicrosEach }
  },
}

/** The same with the provider behind TLS. */
export const overTls: Part = {
  name: 'provider over TLS',
  only: ['spgw', 'beside'],
  fullOnly: true,
  possible: ({ tlsPort }) => tlsPort !== null,
  async measure(target, bench) {
    const { perSecond, cpuMicrosEach } = await loadFully(bench, target, chatCall('bench-small-tls'), 32)
    return { 'tls-rate': perSecond, 'tls-cpu': cpuMicrosEach }
  },
}
