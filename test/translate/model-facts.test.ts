import { describe, expect, it } from 'vitest'
import { effortOfBudget, modelFacts, nearestEffort } from '../../src/translate/model-facts.ts'

describe('facts about models', () => {
  it.each([
    ['claude-3-haiku-20240307', 'none', 'all', true],
    ['claude-3-7-sonnet-latest', 'budget', 'all', true],
    ['claude-sonnet-4-20250514', 'budget', 'all', true],
    ['claude-opus-4@20250514', 'budget', 'all', true],
    ['claude-opus-4-1-20250805', 'budget', 'one', true],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'budget', 'one', true],
    ['anthropic/claude-haiku-4.5', 'budget', 'one', true],
    ['claude-sonnet-4-6', 'adaptive', 'one', false],
    ['anthropic/claude-4.5-sonnet-20250929', 'budget', 'one', true],
    ['anthropic/claude-4.6-opus', 'adaptive', 'one', false],
    ['claude-opus-4-7-20260416', 'adaptive', 'none', false],
    ['anthropic/claude-opus-4.8', 'adaptive', 'none', false],
    ['claude-mythos-5-2', 'adaptive', 'none', false],
    ['claude-something-9', 'adaptive', 'none', false],
  ])('%s: it thinks by %s, takes %s of the samplings, and prefills: %s', (model, control, sampling, prefill) => {
    const facts = modelFacts(model)
    expect(facts).toMatchObject({ family: 'anthropic', sampling, prefill, reasoning: { control } })
    expect(facts.maxOutput === null || facts.maxOutput >= 4096).toBe(true)
  })

  it('know which Claude has system messages in place, and which cannot be forced to call', () => {
    expect(
      ['claude-opus-4-7', 'claude-opus-4-8', 'claude-sonnet-5'].map((name) => modelFacts(name).systemInPlace),
    ).toEqual([false, true, true])
    expect(['claude-sonnet-5', 'claude-fable-5-1'].map((name) => modelFacts(name).forcedCalls)).toEqual([true, false])
  })

  it.each([
    ['gpt-4.1-mini', 'none', 'all', false],
    ['gpt-5-chat-latest', 'none', 'all', false],
    ['gpt-5-mini', 'effort', 'none', true],
    ['gpt-6-sol', 'effort', 'none', true],
    ['o4-mini', 'effort', 'none', true],
    ['openai/o3', 'effort', 'none', true],
  ])(
    '%s: it reasons by %s, takes %s of the samplings, and has developers: %s',
    (model, control, sampling, developerRole) => {
      expect(modelFacts(model)).toMatchObject({ family: 'openai', sampling, developerRole, reasoning: { control } })
    },
  )

  it('take a model that nobody knows for a plain one', () => {
    expect(modelFacts('llama-3.3-70b')).toMatchObject({
      family: 'other',
      sampling: 'all',
      reasoning: { control: 'none' },
    })
    expect(modelFacts('gpt-oss-120b')).toMatchObject({
      family: 'other',
      sampling: 'all',
      reasoning: { control: 'effort' },
    })
  })

  it('find the nearest effort that there is', () => {
    expect(nearestEffort('minimal', ['low', 'high'])).toBe('low')
    expect(nearestEffort('max', ['low', 'high'])).toBe('high')
    expect(nearestEffort('medium', [])).toBeNull()
    expect([-1, 0, 1024, 8000, 20_000].map(effortOfBudget)).toEqual(['medium', 'none', 'low', 'medium', 'high'])
  })
})
