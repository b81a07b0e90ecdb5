import { describe, expect, it } from 'vitest'
import { showTargetState } from '../../src/routing/shown-state.ts'

const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour)).toISOString()
const provider = (hour: number) => ({ state: 'ready' as const, reason: null, since: at(hour) })

describe('a target that is ready', () => {
  it('has been so no longer than calls to it were watched', () => {
    expect(showTargetState(provider(3), { state: 'ready' }, at(9)).since).toBe(at(9))
    expect(showTargetState(provider(10), { state: 'ready' }, at(9)).since).toBe(at(10))
  })

  it('is so since its own trouble ended', () => {
    expect(showTargetState(provider(3), { state: 'ready', since: Date.parse(at(12)) }, at(9)).since).toBe(at(12))
  })

  it('says of a provider that fails, or was never checked, what the provider says', () => {
    for (const state of ['failing', 'unchecked'] as const)
      expect(showTargetState({ ...provider(3), state }, { state: 'ready' }, at(9)).since).toBe(at(3))
  })
})
