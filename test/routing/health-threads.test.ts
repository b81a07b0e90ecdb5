import { expect, it } from 'vitest'
import { attachHealth, createHealthMemory } from '../../src/routing/health.ts'
import { createMeetings } from '../support/meeting.ts'
import { runThreads } from '../support/threads.ts'
import { failTarget } from './health-calls.ts'

it.for([2, 4])('grants each probe to exactly one of %i threads', async (threads) => {
  const slots = 3000
  const buffer = createHealthMemory(slots)
  const health = attachHealth(buffer)
  const now = 1_790_000_000_000
  for (let slot = 0; slot < slots; slot++) {
    failTarget(health, { slot, model: '', pattern: null }, 5, now)
  }
  const arrived = createMeetings(slots)
  const data = { buffer, arrived, slots, threads, now: now + 5000 }
  const granted = await runThreads<number[]>(new URL('./probe-thread.ts', import.meta.url), threads, data)
  expect(granted.flat().sort((one, other) => one - other)).toEqual(Array.from({ length: slots }, (_, slot) => slot))
})
