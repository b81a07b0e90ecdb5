import { expect, it } from 'vitest'
import { runBudgetCrashes } from '../../scripts/crash/budgets.ts'
import { testBundle } from '../support/bundle-once.ts'
import { executable } from '../support/executable.ts'

/** The short form of `npm run crash -- budgets`: what is checked, and how, stands in docs/reliability.md. */
it('litellm 26672, litellm 34732, litellm 40095: a budget counts what the records come to, to the nano-dollar, after each kill -9', {
  timeout: 300_000,
}, async () => {
  const seed = Date.now() % 1_000_000
  const result = await runBudgetCrashes({ kills: 2, seed, clients: 60, executable, tests: testBundle })
  expect(result.problems, `seed ${seed}, kept in ${result.directory}`).toEqual([])
  expect(result.settled).toBeGreaterThan(100)
  expect(result.deadThreads).toBeGreaterThan(0)
  expect(result.recorded).toBeGreaterThan(0)
})
