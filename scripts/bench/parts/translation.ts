import { largeCall, smallCall } from '../calls.ts'
import { loadFully } from '../load.ts'
import type { Part } from '../target.ts'
import { costStreams } from './streams.ts'

/** As in the part for streams, with which it is compared. */
const chunks = 80

/** A client of OpenAI's at Anthropic's provider: what the other parts measure, translated both ways. */
export const translation: Part = {
  name: 'translation',
  only: ['spgw', 'beside', 'portkey', 'portkey-image'],
  async measure(target, bench) {
    const small = await loadFully(bench, target, smallCall('translated'), 32)
    const image = await loadFully(bench, target, largeCall('image', 'translated'), 4)
    const chat = await loadFully(bench, target, largeCall('chat', 'translated'), 4)
    return {
      'translated-cpu': small.cpuMicrosEach,
      'translated-chunk-cpu': (await costStreams(bench, target, 'translated', chunks)).cpuMicrosEach,
      'translated-image-cpu': image.cpuMicrosEach / 1000,
      'translated-chat-cpu': chat.cpuMicrosEach / 1000,
    }
  },
}
