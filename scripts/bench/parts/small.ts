import { smallCall } from '../calls.ts'
import { loadFully } from '../load.ts'
import type { Part } from '../target.ts'

export const small: Part = {
  name: 'small requests',
  async measure(target, bench) {
    const at32 = await loadFully(bench, target, smallCall(), 32)
    const at64 = await loadFully(bench, target, smallCall(), 64)
    return {
      'small-rate-32': at32.perSecond,
      'small-cpu-32': at32.cpuMicrosEach,
      'small-rate-64': at64.perSecond,
      'small-cpu-64': at64.cpuMicrosEach,
    }
  },
}
