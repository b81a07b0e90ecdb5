import { describe, expect, it } from 'vitest'
import { readModules } from './checks/modules.ts'

/** Where else limits and budgets were released, a hold would be released twice, or by some ends and not by others. */
describe('what a request holds of limits and budgets', () => {
  it('is released by its one end', () => {
    const users = (name: RegExp) =>
      readModules('src')
        .filter(({ text }) => name.test(text))
        .map(({ path }) => path)
        .toSorted()
    expect(users(/\breleaseLimits\(/)).toEqual(['src/gateway/answer/settle.ts', 'src/gateway/request/take-limits.ts'])
    expect(users(/\blimits\.release\(/)).toEqual([
      'src/gateway/request/take-limits.ts',
      // What accounts at providers are used for: an attempt that failed releases its part when it has failed.
      'src/gateway/upstream/account-holds.ts',
    ])
    expect(users(/\bsettleBudgets\(/)).toEqual(['src/gateway/answer/settle.ts', 'src/gateway/upstream/hold-budgets.ts'])
  })
})
