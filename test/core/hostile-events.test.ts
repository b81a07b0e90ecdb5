import { describe, expect, it } from 'vitest'
import { SseFramer } from '../../src/core/sse.ts'
import { readLastMember } from '../../src/lanes/event-search.ts'

/** Work that grows with the square of the input would take minutes here, and hold up every other request of the thread. */
describe('an event made to cost much', () => {
  it('of very many data lines is read in one go', { timeout: 2000 }, () => {
    const lines = 150_000
    const event = new SseFramer().push(Buffer.from(`${'data:x\n'.repeat(lines)}\n`))[0]
    expect(event?.data.length).toBe(2 * lines - 1)
  })

  it('of very many beginnings of usage is not searched from each of them', { timeout: 2000 }, () => {
    const data = Buffer.from(`{${'"usage":{'.repeat(100_000)}`)
    expect(readLastMember(data, '"usage"')).toBeUndefined()
  })
})
