import { SseFramer } from '../core/bytes/sse.ts'
import type { StreamFramer } from '../core/bytes/stream-event.ts'
import { JsonArrayFramer } from '../core/json/json-array.ts'
import type { Framing } from './contract.ts'

export function openFramer(framing: Framing): StreamFramer {
  return framing === 'sse' ? new SseFramer() : new JsonArrayFramer()
}
