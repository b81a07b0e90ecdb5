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
  makeProvider('openrouter', { kind: 'openai-compatible', settings: { preset: 'openrouter' } }),
  makeProvider('azure', { kind: 'azure-openai' }),
  makeProvider('azure-preview', { kind: 'azure-openai', settings: { api_version: 'preview' } }),
  makeProvider('azure-2024', { kind: 'azure-openai', settings: { api_version: '2024-10-21' } }),
  makeProvider('azure-2025', { kind: 'azure-openai', settings: { api_version: '2025-04-01-preview' } }),
]

const slotOf = (name: string) => providers.find((each) => each.name === name)?.slot

function queryFor(lane: LaneName, format: FormatName | null): PlanQuery {
  return {
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
  }
}

function ask(target: SnapshotTarget, lane: LaneName, format: FormatName | null, more: Partial<PlanQuery> = {}) {
  const query = { ...queryFor(lane, format), ...more }
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
  ['openai:gpt-5.6-luna', 'anthropic', 'messages', 'responses'],
  ['openai:gpt-5.6-luna', 'anthropic', 'messages', 'chat', { format: 'chat' }],
  ['openai:gpt-5.6-luna', 'openai', 'chat', 'as it came'],
  ['azure:gpt-5.6-luna', 'gemini', 'generate', 'responses'],
  ['azure-preview:gpt-5.6-luna', 'gemini', 'generate', 'responses'],
  ['azure-2025:gpt-5.6-luna', 'gemini', 'generate', 'responses'],
  // Its version has no Responses (aider 4029).
  ['azure-2024:gpt-5.6-luna', 'gemini', 'generate', 'chat'],
  ['azure-2024:gpt-5.6-luna', 'openai', 'responses', 'chat'],
  ['azure-2024:gpt-5.6-luna', 'openai', 'responses', 'as it came', { format: 'responses' }],
  ['told:openai/gpt-5.6-luna', 'anthropic', 'messages', 'responses'],
  ['told:my-codex-test', 'anthropic', 'messages', 'chat'],
  ['openrouter:openai/gpt-5.6-luna', 'anthropic', 'messages', 'chat'],
]

describe('the format in which a target is asked', () => {
  for (const [target, lane, format, want, parts] of cases) {
    it(`${format} at ${target}${parts === undefined ? '' : ` with format=${parts.format}`}: ${want}`, () => {
      expect(formatAt(target, lane, format, parts)).toBe(want)
    })
  }

  it('stands in the reason of the target that is taken', () => {
    const { signals } = ask(makeTarget('claude'), 'openai', 'chat')
    expect(signals.map(({ text }) => text)).toContain('claude (m): ready, translated from chat to messages.')
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

describe('a call for vectors', () => {
  const askVectors = (targets: SnapshotTarget[], lane: LaneName = 'openai', more: Partial<PlanQuery> = {}) => {
    const operation = lane === 'openai' ? 'embeddings' : 'embed'
    const query = { ...queryFor(lane, null), operation, embeds: true, ...more }
    const { candidates, skipped, fault } = plan(
      query,
      compileRoutes(makeConfiguration({ providers, routes: [makeRoute('m', targets)] })),
    )
    return {
      taken: candidates.map(
        ({ provider, translated }) => `${provider.name} ${translated === null ? 'native' : 'translated'}`,
      ),
      skipped: skipped.map(({ reason }) => reason),
      fault: fault?.code ?? null,
    }
  }

  it('goes to the other lane that has one, and to nobody else', () => {
    expect(askVectors([makeTarget('google')]).taken).toEqual(['google translated'])
    expect(askVectors([makeTarget('local')], 'gemini').taken).toEqual(['local translated'])
    expect(askVectors([makeTarget('google')], 'gemini').taken).toEqual(['google native'])
    expect(askVectors([makeTarget('claude')]).fault).toBe('not_translatable')
    expect(askVectors([makeTarget('cloud')]).skipped).toEqual(['vertex has no such call (embeddings)'])
  })

  it('never falls back to the vectors of another model where one of the two is translated', () => {
    const first = makeTarget('openai:text-embedding-3-small')
    const other = makeTarget('google:gemini-embedding-001', { priority: 1 })
    expect(askVectors([first, other])).toMatchObject({
      taken: ['openai native'],
      skipped: ['its vectors cannot be compared with those of text-embedding-3-small'],
    })
    const same = makeTarget('local:google/gemini-embedding-001', { priority: 2 })
    expect(askVectors([other, first]).taken).toEqual(['openai native'])
    expect(askVectors([{ ...other, priority: 0 }, same]).taken).toEqual(['google translated', 'local native'])
    // Deployments of one model have names of their own.
    expect(askVectors([first, makeTarget('local:my-deployment', { priority: 1 })]).taken).toHaveLength(2)
  })

  it('does not take the second model while the first cannot be asked', () => {
    const health: PlanQuery['health'] = (slot) =>
      slot === slotOf('google') ? { state: 'cooling-down', exhausted: false, until: 1000 } : { state: 'ready' }
    const targets = [
      makeTarget('google:gemini-embedding-001'),
      makeTarget('openai:text-embedding-3-small', { priority: 1 }),
    ]
    expect(askVectors(targets, 'openai', { health })).toMatchObject({ taken: [], fault: 'provider_not_ready' })
  })
})
