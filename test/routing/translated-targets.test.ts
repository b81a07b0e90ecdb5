import { describe, expect, it } from 'vitest'
import type { FormatName } from '../../src/core/format.ts'
import type { LaneName } from '../../src/core/lane.ts'
import { indexKinds, providerKinds } from '../../src/providers/index.ts'
import { compileRoutes, type PlanQuery, plan } from '../../src/routing/plan.ts'
import type { SnapshotTarget } from '../../src/store/configuration/snapshot.ts'
import { makeConfiguration, makeProvider, makeRoute, makeTarget } from '../support/snapshot.ts'

const providers = [
  makeProvider('openai', { kind: 'openai' }),
  makeProvider('claude', { kind: 'anthropic' }),
  makeProvider('google', { kind: 'gemini' }),
  makeProvider('cloud', { kind: 'vertex' }),
  makeProvider('aws', { kind: 'bedrock' }),
  makeProvider('local', { kind: 'openai-compatible' }),
  makeProvider('xai', { kind: 'openai-compatible', settings: { preset: 'xai' } }),
  makeProvider('told', { kind: 'openai-compatible', settings: { responses: true } }),
]

function ask(target: SnapshotTarget, lane: LaneName, format: FormatName | null, more: Partial<PlanQuery> = {}) {
  const query: PlanQuery = {
    lane,
    model: 'm',
    projectId: 'prj_a',
    environmentId: 'env_a1',
    providerName: null,
    kinds: indexKinds(providerKinds),
    operation: format,
    format,
    health: () => ({ state: 'ready' }),
    random: () => 0,
    figures: { latencyOf: () => null, costOf: () => null },
    now: 0,
    ...more,
  }
  return plan(query, compileRoutes(makeConfiguration({ providers, routes: [makeRoute('m', [target])] })))
}

function formatAt(text: string, lane: LaneName, format: FormatName, parts: Partial<SnapshotTarget> = {}) {
  const { candidates } = ask(makeTarget(text, parts), lane, format)
  const [candidate] = candidates
  return candidate === undefined ? 'refused' : (candidate.translated?.to ?? 'as it came')
}

const cases: [target: string, lane: LaneName, format: FormatName, want: string, parts?: Partial<SnapshotTarget>][] = [
  ['openai', 'openai', 'chat', 'as it came'],
  ['openai', 'openai', 'responses', 'as it came'],
  ['openai', 'anthropic', 'messages', 'chat'],
  ['openai', 'gemini', 'generate', 'chat'],
  ['openai', 'openai', 'chat', 'responses', { format: 'responses' }],
  ['openai', 'anthropic', 'messages', 'responses', { format: 'responses' }],
  ['openai', 'openai', 'responses', 'as it came', { format: 'responses' }],
  ['claude', 'openai', 'chat', 'messages'],
  ['claude', 'openai', 'responses', 'messages'],
  ['claude', 'anthropic', 'messages', 'as it came'],
  ['google', 'openai', 'chat', 'generate'],
  ['aws', 'gemini', 'generate', 'messages'],
  ['aws', 'anthropic', 'messages', 'as it came'],
  ['cloud:claude-opus', 'openai', 'chat', 'messages'],
  ['cloud:gemini-3', 'openai', 'chat', 'generate'],
  ['cloud:claude-opus', 'gemini', 'generate', 'messages'],
  ['cloud:own-model', 'gemini', 'generate', 'as it came'],
  ['local', 'openai', 'chat', 'as it came'],
  ['local', 'openai', 'responses', 'chat'],
  ['local', 'openai', 'responses', 'as it came', { format: 'responses' }],
  ['xai', 'openai', 'responses', 'as it came'],
  ['told', 'openai', 'responses', 'as it came'],
]

describe('the format in which a target is asked', () => {
  for (const [target, lane, format, want, parts] of cases) {
    it(`${format} at ${target}${parts === undefined ? '' : ` with format=${parts.format}`}: ${want}`, () => {
      expect(formatAt(target, lane, format, parts)).toBe(want)
    })
  }

  it('stands in the reason of the target that is taken', () => {
    const { signals } = ask(makeTarget('claude'), 'openai', 'chat')
    expect(signals.map(({ text }) => text)).toContain('claude (m): ready, translated chat → messages.')
  })

  it('is no matter of calls that have none', () => {
    const { fault } = ask(makeTarget('claude'), 'openai', null, { operation: 'embeddings' })
    expect(fault?.code).toBe('not_translatable')
  })

  it('is never changed for a call that names an object of the provider', () => {
    const pin = { providerId: 'prv_claude', credentialId: null, what: 'file x' }
    const { fault } = ask(makeTarget('claude'), 'openai', 'chat', { pin })
    expect(fault?.code).toBe('provider_not_ready')
  })
})
