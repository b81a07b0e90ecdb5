import { expect, it } from 'vitest'
import { runHostile } from '../../scripts/hostile/run.ts'
import { testBundle } from '../support/bundle-once.ts'

/** Four times what `npm run hostile` allows: this machine may do other work, which costs caches and thus CPU time, too. */
const limitMs = 1000

it('takes no long turn on any thread over a sample of costly inputs', async () => {
  const results = await runHostile({ sample: true, script: testBundle })
  expect(results.length).toBeGreaterThan(9)
  for (const { area, name, worst } of results)
    for (const [thread, turn] of Object.entries(worst))
      expect([area, name, thread, (turn?.cpuMs ?? 0) < limitMs]).toEqual([area, name, thread, true])
})
