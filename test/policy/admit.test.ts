import fc, { array, constantFrom, property, record, shuffledSubarray, subarray } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { captureModes } from '../../src/core/capture.ts'
import type { LaneName } from '../../src/core/lane.ts'
import {
  admitBody,
  admitCall,
  admitKey,
  type CallFacts,
  checkCall,
  compilePolicies,
  type EffectivePolicy,
  effectivePolicy,
  type KeyFacts,
  maxBody,
  mayUseModel,
} from '../../src/policy/admit.ts'
import { attachCounters, type Counters, createCounterMemory, requestsInFlight } from '../../src/policy/counters.ts'
import type { SnapshotKey, SnapshotPolicy } from '../../src/store/configuration/snapshot.ts'
import { makeConfiguration, makeKey, makePolicy } from '../support/snapshot.ts'

const now = Date.parse('2026-11-21T16:00:00Z')
const layout = { rows: 1, threads: 1 }
const newCounters = () => attachCounters(createCounterMemory(layout), layout, 0)

function apply(policies: SnapshotPolicy[], key: SnapshotKey = makeKey()) {
  return effectivePolicy(compilePolicies(makeConfiguration({ policies })), key)
}

function call(parts: Partial<CallFacts> = {}): CallFacts {
  return { lane: 'openai', model: 'gpt-4o', bytes: 100, bodyLimit: 1000, ...parts }
}

describe('admitKey', () => {
  const nothingNamed = { project: null, environment: null, now }
  const cases: [string, Partial<SnapshotKey>, { project?: string; environment?: string }, string | null, RegExp][] = [
    ['a good key', {}, {}, null, /./],
    ['a revoked key', { revokedAt: now - 1 }, {}, 'invalid_key', /has been revoked/],
    ['a key that was revoked by a clock that is ahead', { revokedAt: now + 1 }, {}, 'invalid_key', /has been revoked/],
    ['an expired key', { expiresAt: now }, {}, 'invalid_key', /expired at 2026-11-21T16:00:00.000Z/],
    ['a key that expires later', { expiresAt: now + 1 }, {}, null, /./],
    ['a key that is both', { revokedAt: now - 1, expiresAt: now - 1 }, {}, 'invalid_key', /revoked/],
    ['its own scope by name', {}, { project: 'a', environment: 'production' }, null, /./],
    ['its own scope by id', {}, { project: 'prj_a', environment: 'env_a1' }, null, /./],
    ['another project', {}, { project: 'b' }, 'scope_mismatch', /project "b", but its key belongs to "a"/],
    ['another environment', {}, { project: 'a', environment: 'staging' }, 'scope_mismatch', /environment "staging"/],
    ['another environment alone', {}, { environment: 'staging' }, 'scope_mismatch', /environment "staging"/],
    ['a revoked key in another scope', { revokedAt: 1 }, { project: 'b' }, 'invalid_key', /revoked/],
  ]
  for (const [name, key, named, code, message] of cases) {
    it(name, () => {
      const { fault, signals } = admitKey(makeKey(key), { ...nothingNamed, ...named })
      expect(fault?.code ?? null).toBe(code)
      expect(fault?.message ?? 'none').toMatch(message)
      expect(signals.at(-1)?.verdict).toBe(code === null ? 'pass' : 'deny')
    })
  }

  it('shares its signals where nothing is named', () => {
    expect(admitKey(makeKey(), nothingNamed)).toBe(admitKey(makeKey(), nothingNamed))
  })
})

describe('checkCall', () => {
  const cases: [string, SnapshotPolicy[], Partial<CallFacts>, string | null, string[]][] = [
    ['no policy', [], {}, null, ['policy pass']],
    ['an allowed lane', [makePolicy('p', { lanes: ['openai'] })], {}, null, ['lane pass']],
    ['a lane that is not allowed', [makePolicy('p', { lanes: ['gemini'] })], {}, 'policy_denied', ['lane deny']],
    ['an allowed model', [makePolicy('p', { allowModels: ['gpt-*'] })], {}, null, ['model.allow pass']],
    [
      'a model that is not allowed',
      [makePolicy('p', { allowModels: ['o*'] })],
      {},
      'policy_denied',
      ['model.allow deny'],
    ],
    [
      'a denied model between blanks',
      [makePolicy('p', { denyModels: ['gpt-4o'] })],
      { model: ' gpt-4o\t' },
      'policy_denied',
      ['model.deny deny'],
    ],
    [
      'a denied model with its collection',
      [makePolicy('p', { denyModels: ['gemini-*'] })],
      { model: 'models/gemini-x' },
      'policy_denied',
      ['model.deny deny'],
    ],
    ['a denied model', [makePolicy('p', { denyModels: ['gpt-4o'] })], {}, 'policy_denied', ['model.deny deny']],
    [
      'a denied model in other letters',
      [makePolicy('p', { denyModels: ['GPT-*'] })],
      { model: 'gPt-4O' },
      'policy_denied',
      ['model.deny deny'],
    ],
    ['a model that is not denied', [makePolicy('p', { denyModels: ['o*'] })], {}, null, ['model.deny pass']],
    [
      'two allowances, of which one lacks the model',
      [makePolicy('p', { allowModels: ['gpt-*'] }), makePolicy('q', { allowModels: ['gpt-5', '*-mini'] })],
      {},
      'policy_denied',
      ['model.allow pass', 'model.allow deny'],
    ],
    [
      'a denial beside an allowance',
      [makePolicy('p', { allowModels: ['gpt-4o'] }), makePolicy('q', { denyModels: ['gpt-4*'] })],
      {},
      'policy_denied',
      ['model.deny deny'],
    ],
    [
      'a further model that is denied',
      [makePolicy('p', { denyModels: ['o*'] })],
      { additionalModels: [{ name: 'gpt-5' }, { name: 'o3' }] },
      'policy_denied',
      ['model.deny pass', 'model.deny pass', 'model.deny deny'],
    ],
    ['a call without a model', [makePolicy('p', { allowModels: ['x'] })], { model: null }, null, ['model pass']],
    ['a body within', [makePolicy('p', { maxBody: 100 })], {}, null, ['body pass']],
    [
      'a body beyond',
      [makePolicy('p', { maxBody: 99 }), makePolicy('q', { maxBody: 5000 })],
      {},
      'request_too_large',
      ['body deny'],
    ],
    ["a body beyond the gateway's limit", [], { bytes: 1001 }, 'request_too_large', ['body deny']],
  ]
  for (const [name, policies, facts, code, signals] of cases) {
    it(name, () => {
      const verdict = checkCall(call(facts), apply(policies))
      expect(verdict.fault?.code ?? null).toBe(code)
      expect(verdict.signals.map(({ rule, verdict: found }) => `${rule} ${found}`)).toEqual(signals)
    })
  }

  it('names the policy, its limit and the figures', () => {
    const { fault, signals } = checkCall(
      call({ bytes: 70_000, bodyLimit: 1e8 }),
      apply([makePolicy('small', { maxBody: 64_000 })]),
    )
    expect(fault?.message).toBe('The body is larger than the 64 KB that the policy small allows; send a smaller one.')
    expect(signals[0]?.data).toEqual({ policy: 'small', bytes: 70_000, limit: 64_000 })
  })

  it('tells the client which member to change, and the record which entry of which policy it was', () => {
    const policies = [makePolicy('p', { lanes: ['openai'], denyModels: ['o*'], allowModels: ['gpt-*', 'o3'] })]
    const { fault, signals } = checkCall(call({ model: 'o3' }), apply(policies))
    expect(fault?.param).toBe('model')
    expect(signals.map(({ data }) => data)).toEqual([
      { policy: 'p', lane: 'openai' },
      { policy: 'p', by: 'o*' },
    ])
    const good = checkCall(call(), apply(policies)).signals.map(({ data }) => data)
    expect(good.slice(1)).toEqual([{ policy: 'p' }, { policy: 'p', by: 'gpt-*' }])
    expect(checkCall(call({ lane: 'gemini' }), apply(policies)).fault).not.toHaveProperty('param')
  })

  it('shows of the models what the policies let a key use', () => {
    const effective = apply([makePolicy('p', { denyModels: ['o*'] })])
    expect(['gpt-4o', 'o3'].map((model) => mayUseModel(effective, model))).toEqual([true, false])
  })

  it('takes the strictest of what policies say of models without a price', () => {
    const rules = ['deny', 50, 2, 'allow'] as const
    for (const [place, strict] of rules.entries())
      for (const loose of rules.slice(place + 1))
        for (const order of [[strict, loose] as const, [loose, strict] as const]) {
          const { unpriced } = apply(order.map((choice) => makePolicy(String(choice), { unpriced: choice })))
          expect(unpriced?.policy).toBe(String(strict))
          expect(unpriced?.denies).toBe(strict === 'deny')
          expect(unpriced?.price?.output ?? null).toBe(typeof strict === 'number' ? strict : null)
        }
  })
})

describe('what applies to a key', () => {
  const attach = (...ids: string[]) => ({ attachedTo: { workspace: false, ids } })

  it('is what is attached to workspace, project, environment and key, and what the key names', () => {
    const policies = [
      makePolicy('workspace'),
      makePolicy('project', attach('prj_a')),
      makePolicy('environment', attach('env_a1', 'env_a2')),
      makePolicy('key', attach('key_1')),
      makePolicy('named', attach()),
      makePolicy('stranger', attach('prj_b', 'env_a2', 'key_2')),
    ]
    const found = apply(policies, makeKey({ policyId: 'pol_named' })).policies.map(({ name }) => name)
    expect(found).toEqual(['environment', 'key', 'named', 'project', 'workspace'])
  })

  it('is remembered for a key, not for the key as it was before', () => {
    const compiled = compilePolicies(makeConfiguration({ policies: [makePolicy('p', attach()), makePolicy('q')] }))
    const key = makeKey()
    expect(effectivePolicy(compiled, key)).toBe(effectivePolicy(compiled, key))
    expect(effectivePolicy(compiled, makeKey({ id: 'key_2' }))).toBe(effectivePolicy(compiled, key))
    expect(effectivePolicy(compiled, makeKey({ policyId: 'pol_p' })).policies).toHaveLength(2)
  })

  it('is nothing allowed when the policy that the key names is missing', () => {
    const effective = apply([], makeKey({ policyId: 'pol_gone' }))
    expect(checkCall(call(), effective).fault?.code).toBe('policy_denied')
    expect(mayUseModel(effective, 'gpt-4o')).toBe(false)
  })
})

describe('bodies', () => {
  const effective = apply([makePolicy('p', { maxBody: 64 }), makePolicy('q', { maxBody: 128 })])

  it('may have what the strictest allows', () => {
    expect([maxBody(effective, 1000), maxBody(effective, 10), maxBody(apply([]), 1000)]).toEqual([64, 10, 1000])
  })

  it('are refused before they are read, with the limit that applied', () => {
    expect(admitBody(65, effective, 1000).fault?.message).toContain('the policy p allows')
    expect(admitBody(11, effective, 10).fault?.message).toContain('the gateway allows')
    expect(admitBody(64, effective, 1000).fault).toBeNull()
  })
})

describe('requests in flight', () => {
  it('count a request from its admission', () => {
    const counters = newCounters()
    const { fault } = admitCall(call(), apply([makePolicy('p')]), counters)
    expect([fault, counters.read(requestsInFlight)]).toEqual([null, 1])
  })

  it('do not count a refused one', () => {
    const counters = newCounters()
    const refusal = admitCall(call(), apply([makePolicy('p', { lanes: ['gemini'] })]), counters)
    expect([refusal.fault?.code, counters.read(requestsInFlight)]).toEqual(['policy_denied', 0])
  })

  it('are counted without a new object where no policy applies', () => {
    const counters = newCounters()
    expect(admitCall(call(), apply([]), counters)).toBe(admitCall(call(), apply([]), counters))
  })
})

/** As the pipeline does: the key before the body is read, the call afterwards. */
function admit(request: KeyFacts & CallFacts & { key: SnapshotKey }, effective: EffectivePolicy, counters: Counters) {
  const first = admitKey(request.key, request)
  if (first.fault !== null) return first
  const second = admitCall(request, effective, counters)
  return { ...second, signals: [...first.signals, ...second.signals] }
}

describe('admitKey and admitCall', () => {
  const request = { key: makeKey(), project: 'a', environment: null, now, ...call() }

  it('runs all checks in their order and keeps the signals of each', () => {
    const { fault, signals } = admit(
      request,
      apply([makePolicy('p', { lanes: ['openai'], maxBody: 500 })]),
      newCounters(),
    )
    expect([fault, ...signals.map(({ rule }) => rule)]).toEqual([null, 'key', 'scope', 'lane', 'body'])
  })

  it('ends at the first refusal', () => {
    const denied = apply([makePolicy('p', { lanes: ['gemini'], denyModels: ['*'], maxBody: 1 })])
    const ofKey = admit({ ...request, key: makeKey({ revokedAt: 1 }) }, denied, newCounters())
    expect([ofKey.fault?.code, ofKey.signals.length]).toEqual(['invalid_key', 1])
    expect(admit(request, denied, newCounters()).signals.map(({ rule }) => rule)).toEqual(['key', 'scope', 'lane'])
  })
})

const models = ['gpt-4o', 'gpt-4o-mini', 'claude', '*', 'gpt-*', '*mini', 'g*o*i']
const anyPolicy = record({
  allowModels: subarray(models),
  denyModels: subarray(models, { maxLength: 2 }),
  lanes: subarray<LaneName>(['openai', 'anthropic', 'gemini']),
  maxBody: constantFrom(null, 50, 99, 100, 5000),
  attachedTo: constantFrom<SnapshotPolicy['attachedTo'][]>(
    { workspace: true, ids: [] },
    { workspace: false, ids: ['key_1', 'prj_a'] },
    { workspace: false, ids: ['env_x'] },
  ),
})
const anyPolicies = array(anyPolicy, { maxLength: 5 }).map((drafts) =>
  drafts.map((draft, index) => makePolicy(`p${index}`, draft)),
)
const anyModel = constantFrom('gpt-4o', 'gpt-4o-mini', 'claude', 'other')

describe('what is kept of bodies', () => {
  const modes = constantFrom(null, ...captureModes)

  it('is the least that any policy says, whatever their order, and nothing where none says anything', () => {
    fc.assert(
      property(array(modes, { maxLength: 5 }), (said) => {
        const policies = said.map((capture, index) => makePolicy(`p${index}`, { capture }))
        const words = said.filter((mode) => mode !== null)
        const least = captureModes.find((mode) => words.includes(mode)) ?? null
        expect(apply(policies).capture?.mode ?? null).toBe(least)
      }),
    )
  })

  it('names the policy that decides, and says when others would keep more', () => {
    const policies = [makePolicy('a', { capture: 'full' }), makePolicy('b', { capture: 'redacted' }), makePolicy('c')]
    expect(apply(policies).capture?.signal.text).toBe(
      'The policy b keeps the bodies, with secrets and personal data masked; others that apply would keep more.',
    )
    expect(apply(policies.slice(0, 1)).capture?.signal.text).toBe('The policy a keeps the bodies.')
  })

  it('keeps bodies for the shortest time of any policy, whichever captures them', () => {
    const hourMs = 3_600_000
    const policies = [
      makePolicy('a', { capture: 'full', bodiesRetention: 48 * hourMs }),
      makePolicy('b', { bodiesRetention: 12 * hourMs }),
      makePolicy('c', { bodiesRetention: 24 * hourMs }),
    ]
    expect(apply(policies).capture).toMatchObject({
      mode: 'full',
      retention: { ms: 12 * hourMs, signal: { text: 'The policy b keeps the bodies for 12h at most.' } },
    })
    expect(apply(policies.slice(1)).capture).toBeNull()
    expect(apply([makePolicy('a', { capture: 'full' })]).capture?.retention).toBeNull()
  })
})

describe('policies together', () => {
  it('come to the same whatever their order', () => {
    const shuffled = anyPolicies.chain((policies) =>
      record({ policies: constantFrom(policies), other: shuffledSubarray(policies, { minLength: policies.length }) }),
    )
    fc.assert(
      property(shuffled, anyModel, ({ policies, other }, model) => {
        expect(checkCall(call({ model }), apply(other))).toEqual(checkCall(call({ model }), apply(policies)))
      }),
    )
  })

  it('admit exactly what each alone admits', () => {
    fc.assert(
      property(anyPolicies, anyModel, (policies, model) => {
        const each = policies.every((policy) => checkCall(call({ model }), apply([policy])).fault === null)
        expect(checkCall(call({ model }), apply(policies)).fault === null).toBe(each)
      }),
      { numRuns: 500 },
    )
  })

  it('deny what one denies, whatever the others allow', () => {
    fc.assert(
      property(anyPolicies, anyModel, (policies, model) => {
        const denied = makePolicy('z', { denyModels: [model] })
        expect(mayUseModel(apply([...policies, denied, makePolicy('a', { allowModels: ['*'] })]), model)).toBe(false)
      }),
    )
  })
})
