import { describe, expect, it } from 'vitest'
import { checkCall, compilePolicies, effectivePolicy, outputCap } from '../../src/policy/admit.ts'
import type { SnapshotPolicy } from '../../src/store/configuration/snapshot.ts'
import { makeConfiguration, makeKey, makePolicy } from '../support/snapshot.ts'

function check(policies: SnapshotPolicy[], asked: number | null) {
  const effective = effectivePolicy(compilePolicies(makeConfiguration({ policies })), makeKey())
  const output = { asked, member: () => 'max_tokens' }
  const { fault, signals } = checkCall({ lane: 'openai', model: 'm', bytes: 1, bodyLimit: 9, output }, effective)
  return { fault, signal: signals.at(-1), cap: outputCap(effective.output, asked) }
}

describe('the most output tokens', () => {
  const strict = makePolicy('strict', { maxOutputTokens: 500 })
  const caps = makePolicy('caps', { maxOutputTokens: 500, capOutput: true })
  const cases: [name: string, policies: SnapshotPolicy[], asked: number | null, verdict: string, cap: number | null][] =
    [
      ['within', [strict], 500, 'pass', null],
      ['beyond', [strict], 501, 'deny', null],
      ['without a limit', [strict], null, 'deny', null],
      ['within a cap', [caps], 500, 'pass', null],
      ['beyond a cap', [caps], 501, 'note', 500],
      ['without a limit under a cap', [caps], null, 'note', 500],
      ['the smallest refuses', [makePolicy('s', { maxOutputTokens: 9 }), caps], 10, 'deny', null],
      ['the smallest caps', [strict, makePolicy('c', { maxOutputTokens: 9, capOutput: true })], 501, 'note', 9],
      ['of equals one that refuses', [caps, strict], 501, 'deny', null],
      ['none may pass', [makePolicy('z', { maxOutputTokens: 0 })], 1, 'deny', null],
    ]
  for (const [name, policies, asked, verdict, cap] of cases) {
    it(name, () => {
      const found = check(policies, asked)
      expect(found.signal).toMatchObject({ rule: 'output', verdict })
      expect(found.fault?.code ?? null).toBe(verdict === 'deny' ? 'policy_denied' : null)
      expect(found.cap).toBe(cap)
    })
  }

  it('are named in the refusal, with the member to change', () => {
    expect(check([strict], 2000).fault).toMatchObject({
      param: 'max_tokens',
      message:
        'The request asks for 2000 output tokens, and the policy strict allows 500. Set `max_tokens` to at most 500.',
    })
  })

  it('limit nothing where no policy sets them, or the call has none', () => {
    expect(check([makePolicy('p', { capOutput: true })], 9e6)).toMatchObject({
      fault: null,
      signal: undefined,
      cap: null,
    })
    const effective = effectivePolicy(compilePolicies(makeConfiguration({ policies: [strict] })), makeKey())
    expect(checkCall({ lane: 'openai', model: 'm', bytes: 1, bodyLimit: 9, output: null }, effective).fault).toBeNull()
  })
})
