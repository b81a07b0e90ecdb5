import type { Part } from '../target.ts'
import { aborts } from './aborts.ts'
import { after } from './after.ts'
import { bodies } from './bodies.ts'
import { latency } from './latency.ts'
import { memory } from './memory.ts'
import { small } from './small.ts'
import { streams } from './streams.ts'
import { translation } from './translation.ts'
import { lanes, overTls, threadCounts } from './ways.ts'

export const parts: readonly Part[] = [
  memory,
  small,
  latency,
  streams,
  bodies,
  translation,
  ...lanes,
  overTls,
  ...threadCounts,
  after,
  aborts,
]
