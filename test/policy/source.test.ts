import { describe, expect, it } from 'vitest'
import { checkSource, compilePolicies, effectivePolicy } from '../../src/policy/admit.ts'
import type { SourceFacts } from '../../src/policy/checks.ts'
import type { SnapshotPolicy } from '../../src/store/configuration/snapshot.ts'
import { makeConfiguration, makeKey, makePolicy } from '../support/snapshot.ts'

function check(policies: SnapshotPolicy[], facts: Partial<SourceFacts>) {
  const { source } = effectivePolicy(compilePolicies(makeConfiguration({ policies })), makeKey())
  return checkSource(source ?? [], { address: '10.1.2.3', now: 0, timeZone: 'UTC', ...facts })
}

it('costs nothing where no policy limits it', () => {
  const policies = [makePolicy('p', { allowModels: ['gpt-4o'] })]
  expect(effectivePolicy(compilePolicies(makeConfiguration({ policies })), makeKey()).source).toBeNull()
})

describe('addresses', () => {
  const office = makePolicy('office', { addresses: ['10.0.0.0/8', '2001:db8::/32'] })
  const cases: [address: string | null, allowed: boolean][] = [
    ['10.1.2.3', true],
    ['::ffff:10.1.2.3', true],
    ['2001:db8::1', true],
    ['11.0.0.1', false],
    ['::1', false],
    ['not an address', false],
    [null, false],
  ]
  for (const [address, allowed] of cases) {
    it(`${allowed ? 'allow' : 'deny'} ${address}`, () => {
      const { fault, signals } = check([office], { address })
      expect(fault?.code ?? null).toBe(allowed ? null : 'policy_denied')
      expect(signals).toMatchObject([{ rule: 'address', verdict: allowed ? 'pass' : 'deny' }])
    })
  }

  it('must be allowed by every policy that limits them', () => {
    const narrow = makePolicy('narrow', { addresses: ['10.1.0.0/16'] })
    expect(check([office, narrow], { address: '10.1.2.3' }).fault).toBeNull()
    const { fault, signals } = check([office, narrow], { address: '10.2.0.1' })
    expect(fault?.message).toBe("The policy narrow does not allow the client's address; ask the operator.")
    // Records may have no addresses.
    expect(JSON.stringify([fault, signals])).not.toContain('10.2.0.1')
  })
})

describe('hours', () => {
  const policies = [makePolicy('day', { hours: ['Mon-Fri 08:00-18:00'] })]
  const at = (now: string, timeZone: string) =>
    check(policies, { now: Date.parse(now), timeZone }).fault?.message ?? null

  it("are those of the workspace's time zone", () => {
    // A Monday.
    expect(at('2026-11-23T08:00:00Z', 'UTC')).toBeNull()
    expect(at('2026-11-23T08:00:00Z', 'America/New_York')).toBe(
      'The policy day allows no requests at this hour; the next from Mon 08:00 (America/New_York).',
    )
    expect(at('2026-11-22T23:00:00Z', 'Asia/Tokyo')).toBeNull()
    expect(at('2026-11-23T18:00:00Z', 'UTC')).toContain('Tue 08:00')
  })

  it('follow the clocks when they change', () => {
    expect(at('2026-10-23T12:00:00Z', 'America/New_York')).toBeNull()
    expect(at('2026-11-02T12:59:00Z', 'America/New_York')).not.toBeNull()
    expect(at('2026-11-02T13:00:00Z', 'America/New_York')).toBeNull()
  })

  it('may go on past midnight', () => {
    const night = [makePolicy('night', { hours: ['Fri 22:00-06:00'] })]
    const open = (now: string) => check(night, { now: Date.parse(now) }).fault === null
    expect(['2026-11-27T22:00:00Z', '2026-11-28T05:59:00Z', '2026-11-28T06:00:00Z'].map(open)).toEqual([
      true,
      true,
      false,
    ])
  })

  it('are any of those of one policy, and those of every policy', () => {
    const noon = makePolicy('noon', { hours: ['12:00-13:00', '20:00-21:00'] })
    const code = (now: string) => check([...policies, noon], { now: Date.parse(now) }).fault?.message
    expect(code('2026-11-23T12:30:00Z')).toBeUndefined()
    expect(code('2026-11-23T20:30:00Z')).toContain('policy day')
    expect(code('2026-11-23T09:30:00Z')).toContain('policy noon')
  })
})
