import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { SseFramer } from '../../src/core/bytes/sse.ts'
import { readLastMember } from '../../src/lanes/event-search.ts'

/** Work that grows with the square of the input would take minutes here, and hold up every other request of the thread. */
describe('an event made to cost much', () => {
  it('of very many data lines is read in one go', { timeout: 30_000 }, () => {
    const lines = 600_000
    const event = new SseFramer().push(Buffer.from(`${'data:x\n'.repeat(lines)}\n`))[0]
    expect(event?.data.length).toBe(2 * lines - 1)
  })

  it('in chunks of a byte is held in little more than its length', { timeout: 30_000 }, () => {
    const framer = new SseFramer()
    const before = heldBytes()
    for (let index = 0; index < 1_000_000; index++) framer.push(Buffer.from('x'))
    expect(framer.pending).toBe(1_000_000)
    expect(heldBytes() - before).toBeLessThan(30_000_000)
    expect(framer.release()?.bytes.length).toBe(1_000_000)
  })

  it('of very many beginnings of usage is not searched from each of them', { timeout: 30_000 }, () => {
    const data = Buffer.from(`{${'"usage":{'.repeat(400_000)}`)
    expect(readLastMember(data, '"usage"')).toBeUndefined()
  })
})

/** Of the heap, without garbage: files of tests share a process. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed
}
