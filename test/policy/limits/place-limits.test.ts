import { expect, it } from 'vitest'
import { listBudgets } from '../../../src/policy/limits/place-limits.ts'
import { makeConfiguration, makeKey, makePolicy } from '../../support/snapshot.ts'

it('lists the budget of the workspace beside those of more keys than are listed', () => {
  const attachedTo = { workspace: true, ids: [] }
  const policies = [
    makePolicy('each', { per: 'key', budgetUsdMonth: 5, attachedTo }),
    makePolicy('all', { budgetUsdMonth: 100, attachedTo }),
  ]
  const keys = Array.from({ length: 1500 }, (_, index) => makeKey({ id: `key_${index}` }))
  const budgets = listBudgets({ configuration: makeConfiguration({ policies }), keys })
  expect(budgets).toHaveLength(1000)
  expect(budgets.filter(({ limit }) => limit.policy === 'all')).toHaveLength(1)
})
