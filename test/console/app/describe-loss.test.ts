import { describe, expect, it } from 'vitest'
import { describeLoss } from '../../../src/console/app/areas/providers/describe-loss.ts'

type Target = Parameters<typeof describeLoss>[0]['targets'][number]

const target = (provider: string, priority = 0, weight = 1): Target =>
  ({ provider, priority, weight, upstream_model: null, format: null }) as Target

describe('what a route loses with a provider', () => {
  it.each([
    [
      'the first by priority, wherever it stands',
      [target('b', 1), target('a', 0)],
      'its first target; requests go to b',
    ],
    ['one behind it', [target('a', 1), target('b', 0)], 'target 2 of 2, a fallback'],
    ['all that it has', [target('a'), target('a', 1)], 'its only targets: requests are rejected with'],
    ['all that gets requests', [target('a'), target('b', 1, 0)], 'its only targets: requests are rejected with'],
    ['one without weight', [target('b'), target('a', 1, 0)], 'a target that gets no requests'],
  ])('in an order: %s', (_what, targets, text) => {
    expect(describeLoss({ targets, strategy: 'priority' }, 'a')).toContain(`loses ${text}`)
  })

  it.each(['weighted', 'latency', 'cost'] as const)('by %s: a share, unless the others come after it', (strategy) => {
    const loss = (targets: Target[]) => describeLoss({ targets, strategy }, 'a')
    expect(loss([target('a'), target('b')])).toBe('loses its share at a; the other targets take it')
    expect(loss([target('a'), target('b', 1)])).toBe('loses its first target; requests go to b')
    expect(loss([target('b'), target('a', 1)])).toBe('loses target 2 of 2, a fallback')
  })
})
