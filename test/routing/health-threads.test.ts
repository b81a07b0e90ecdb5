import { expect, it } from 'vitest'
import { attachHealth, createHealthMemory } from '../../src/routing/health.ts'
import { runThreads } from '../support/threads.ts'

it('grants each probe to exactly one of four threads', async () => {
  const slots = 2000
  const buffer = createHealthMemory(slots)
  const health = attachHealth(buffer)
  const now = 1_790_000_000_000
  for (let slot = 0; slot < slots; slot++) {
    for (let count = 0; count < 5; count++) health.recordFailure(slot, 'pass', now)
  }
  const data = { buffer, slots, now: now + 5000 }
  const granted = await runThreads<number[]>(new URL('./probe-thread.ts', import.meta.url), 4, data)
  expect(granted.flat().sort((one, other) => one - other)).toEqual(Array.from({ length: slots }, (_, slot) => slot))
})
