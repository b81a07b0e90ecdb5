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
    ).toEqual([false, true, false])
    const forced = (name: string) => modelFacts(name).forcedCalls
    expect(['claude-sonnet-5', 'claude-haiku-5-5', 'claude-fable-5'].map(forced)).toEqual([true, true, true])
    const unforced = ['claude-fable-5-1', 'claude-mythos-5-2', 'claude-opus-5.5', 'claude-sonnet-5-5-20260928']
    expect(unforced.map(forced)).toEqual([false, false, false, false])
  })

  it('know which models can stop thinking, and how', () => {
    const { reasoning } = modelFacts('anthropic.claude-sonnet-5-5-v1:0')
    expect(reasoning).toMatchObject({ canDisable: true, offBetweenTools: true })
    for (const name of ['claude-opus-5-5', '~anthropic/claude-opus-latest', 'claude-fable-5'])
      expect(modelFacts(name).reasoning.canDisable).toBe(false)
    expect(modelFacts('claude-opus-5').reasoning).toMatchObject({ canDisable: true })
  })

  it.each([
    ['gpt-4.1-mini', 'none', 'all', false],
    ['gpt-5-chat-latest', 'none', 'all', false],
    ['gpt-6-mini-chat', 'none', 'all', false],
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

  it.each([
    ['gpt-5-pro', 'high high'],
    ['gpt-5-prod', 'minimal high'],
    ['gpt-5-codex', 'low high'],
    ['gpt-5.1-codex-max', 'low xhigh'],
    ['gpt-5.2-codex', 'low xhigh'],
    ['gpt-5.3-codex', 'low xhigh'],
    ['gpt-5.2-pro', 'medium xhigh'],
    ['gpt-5.5-pro-2026-04-23', 'medium xhigh'],
  ])('models.dev PR 2296: %s takes the efforts from %s on', (model, levels) => {
    const { efforts } = modelFacts(model).reasoning
    expect(`${efforts[0]} ${efforts.at(-1)}`).toBe(levels)
  })

  it('know the levels of the newest models', () => {
    expect(modelFacts('gpt-5.5').reasoning.efforts).not.toContain('max')
    expect(modelFacts('gpt-5.6-luna').reasoning.efforts).toContain('max')
    expect(modelFacts('gemini-3.8-flash').reasoning.efforts[0]).toBe('minimal')
    for (const name of ['gemini-3.1-pro-preview', 'gemini-pro-latest', 'gemini-4-argon', 'gemini-5'])
      expect(modelFacts(name).reasoning.efforts).toEqual(['low', 'medium', 'high'])
    expect(['gemini-3-pro', 'gemini-4-argon'].map((name) => modelFacts(name).sampling)).toEqual(['all', 'none'])
  })

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
