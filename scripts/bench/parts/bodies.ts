import { largeCall } from '../calls.ts'
import { loadFully } from '../load.ts'
import type { Part } from '../target.ts'

export const bodies: Part = {
  name: 'bodies of 1 MB',
  async measure(target, bench) {
    const image = await loadFully(bench, target, largeCall('image'), 4)
    const chat = await loadFully(bench, target, largeCall('chat'), 4)
    return { 'image-cpu': image.cpuMicrosEach / 1000, 'chat-cpu': chat.cpuMicrosEach / 1000 }
  },
}
