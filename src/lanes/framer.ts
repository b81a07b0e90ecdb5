import { JsonArrayFramer } from '../core/json/json-array.ts'
import { SseFramer } from '../core/sse.ts'
import type { StreamFramer } from '../core/stream-event.ts'
import type { Framing } from './contract.ts'

export function openFramer(framing: Framing): StreamFramer {
  return framing === 'sse' ? new SseFramer() : new JsonArrayFramer()
}
