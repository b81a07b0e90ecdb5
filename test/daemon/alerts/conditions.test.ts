import { describe, expect, it } from 'vitest'
import { findChanges } from '../../../src/daemon/alerts/changes.ts'
import { findAlertConditions, type Observed } from '../../../src/daemon/alerts/conditions.ts'

const quiet: Observed = {
  now: Date.parse('2026-03-10T00:00:00Z'),
  budgets: [],
  providers: [],
  traffic: { requests: 0, failures: 0 },
  disk: null,
  expiries: [],
}
const budget = {
  counter: 'pol_1 workspace usd month',
  policy: 'spend',
  scope: 'workspace',
  kind: 'usd',
  period: 'month',
  periodName: '2026-03',
  used: 0,
  limit: 200,
  resetsAt: '2026-04-01T00:00:00Z',
} as const
const all = ['budget', 'provider', 'errors', 'disk', 'expiry'] as const

/** Types and percents that are reported, look after look. */
function follow(
  looks: Partial<Observed>[],
  events: readonly (typeof all)[number][] = all,
  reported = new Set<string>(),
): string[][] {
  return looks.map((look) => {
    const observed = { ...quiet, ...look }
    const { crossed, ended, reports } = findChanges(events, findAlertConditions(observed), reported, {
      ...observed,
      unknown: new Set(),
    })
    for (const crossing of crossed) reported.add(crossing)
    for (const crossing of ended) reported.delete(crossing)
    return reports.map(({ message: { type, data } }) => `${type} ${data.percent ?? data.days ?? ''}`.trim())
  })
}

const spent = (used: number, change: object = {}) => ({ budgets: [{ ...budget, used, ...change }] })

describe('budgets', () => {
  it('report 50, 80 and 100% once each in a period, and again in the next', () => {
    const looks = [spent(99), spent(100), spent(120), spent(160), spent(199.9), spent(200), spent(250)]
    expect(follow([...looks, spent(110, { periodName: '2026-04', resetsAt: '2026-05-01T00:00:00Z' })])).toEqual([
      [],
      ['budget.threshold 50'],
      [],
      ['budget.threshold 80'],
      [],
      ['budget.spent 100'],
      [],
      ['budget.threshold 55'],
    ])
  })

  it('report a threshold that is reached exactly, whatever binary makes of the amounts', () => {
    expect(follow([spent(0.024, { limit: 0.03 })])).toEqual([['budget.threshold 80']])
    expect(follow([spent(0.026, { limit: 0.05 })])).toEqual([['budget.threshold 52']])
    expect(follow([spent(999_999.999999999, { limit: 1_000_000 })])).toEqual([['budget.threshold 99']])
  })

  it('report only the highest threshold of a jump, and none again after a raised limit', () => {
    expect(follow([spent(170), spent(170, { limit: 300 }), spent(290, { limit: 300 })])).toEqual([
      ['budget.threshold 85'],
      [],
      [],
    ])
  })

  it('of 0 report nothing', () => {
    expect(follow([spent(0, { limit: 0 })])).toEqual([[]])
  })
})

it('reports a failing provider once, waits while it recovers, and says when it works again', () => {
  const at = (state: 'failing' | 'recovering' | 'ready') => ({
    providers: [{ id: 'prv_1', name: 'openai', state: { state, reason: null, since: null } }],
  })
  const looks = [at('recovering'), at('failing'), at('recovering'), at('failing'), at('ready'), at('failing')]
  expect(follow(looks)).toEqual([[], ['provider.failing'], [], [], ['provider.recovered'], ['provider.failing']])
})

it('reports errors above 10% of at least 20 requests, and again only after 5%', () => {
  const at = (requests: number, failures: number) => ({ traffic: { requests, failures } })
  const looks = [at(19, 19), at(20, 2), at(20, 3), at(100, 8), at(100, 20), at(100, 5), at(100, 11)]
  expect(follow(looks)).toEqual([[], [], ['errors.high 15'], [], [], [], ['errors.high 11']])
})

it('reports a disk below 10%, and again only after 12%', () => {
  const at = (freeBytes: number) => ({ disk: { freeBytes, totalBytes: 100 } })
  expect(follow([at(10), at(9), at(11), at(9), at(12), at(5)])).toEqual([
    [],
    ['disk.low 9'],
    [],
    [],
    [],
    ['disk.low 5'],
  ])
})

it('reports an end 14, 3 and 0 days ahead, of each date once', () => {
  const dayMs = 24 * 3600_000
  const at = (days: number) => ({ expiries: [{ resource: 'certificate:gateway', at: quiet.now + days * dayMs }] })
  expect(follow([at(15)])).toEqual([[]])
  expect(follow([at(14), at(14)])).toEqual([['expiry.soon 14'], []])
  expect(follow([at(2)])).toEqual([['expiry.soon 2']])
  expect(follow([at(-1)])).toEqual([['expiry.soon 0']])
})

it('reports only what the alert is for', () => {
  expect(follow([{ ...spent(200), disk: { freeBytes: 1, totalBytes: 100 } }], ['disk'])).toEqual([['disk.low 1']])
})

describe('what an alert says', () => {
  const texts = (observed: Partial<Observed>) =>
    findAlertConditions({ ...quiet, ...observed }).map(({ data }) => `${data.resource}: ${data.text}`)
  const account = { policy: null, scope: 'provider:openai' }

  it('of a budget is whose it is, how much of what, and of which time', () => {
    expect(texts(spent(150))).toEqual([
      'policy:spend: Budget of policy spend (workspace): $150.00 of $200.00 used this month (75%).',
    ])
    expect(texts(spent(1500, { kind: 'tokens', period: 'day', limit: 2000 }))).toEqual([
      'policy:spend: Budget of policy spend (workspace): 1,500 of 2,000 tokens used today (75%).',
    ])
    expect(texts(spent(150, account))).toEqual([
      'provider:openai: Budget of provider openai: $150.00 of $200.00 used this month (75%).',
    ])
  })

  it('of a provider is why it fails, where that is known', () => {
    const at = (reason: string | null) => ({
      providers: [{ id: 'prv_1', name: 'openai', state: { state: 'failing' as const, reason, since: null } }],
    })
    expect(texts(at('it answers 401'))).toEqual(['provider:openai: Provider openai is failing: it answers 401.'])
    expect(texts(at(null))).toEqual(['provider:openai: Provider openai is failing: calls fail.'])
  })

  it('of errors and of the disk is how many, and how much', () => {
    expect(texts({ traffic: { requests: 40, failures: 9 } })).toEqual([
      'requests: 9 of 40 requests of the last 5 minutes failed (23%).',
    ])
    expect(texts({ disk: { freeBytes: 29, totalBytes: 1000 } })).toEqual([
      'disk: The disk of the data directory has 2% free.',
    ])
    expect(texts({ disk: { freeBytes: 0, totalBytes: 0 } })).toEqual([])
  })

  it('of an end is when it was, or will be', () => {
    const at = (ms: number) => ({ expiries: [{ resource: 'certificate:gateway', at: quiet.now + ms }] })
    expect(texts(at(1))).toEqual(['certificate:gateway: Certificate gateway expires on 2026-03-10 00:00 UTC.'])
    expect(texts(at(0))).toEqual(['certificate:gateway: Certificate gateway expired on 2026-03-10 00:00 UTC.'])
  })

  // The end of the month moves with the time zone of the workspace, and what is spent in it stays.
  it('of a budget is not told again where the time zone moves the end of its period', () => {
    const inTokyo = spent(250, { resetsAt: '2026-03-31T15:00:00Z' })
    expect(follow([spent(250), inTokyo])).toEqual([['budget.spent 125'], []])
  })

  it('of a budget that an earlier version has reported is not told again, and what is crossed later is', () => {
    const reported = new Set([50, 80].map((step) => `budget ${budget.counter} ${budget.resetsAt} ${step}`))
    const inTokyo = spent(170, { resetsAt: '2026-03-31T15:00:00Z' })
    expect(follow([spent(110), spent(170), inTokyo, spent(200)], all, reported)).toEqual([
      [],
      [],
      [],
      ['budget.spent 100'],
    ])
  })

  it('names the thresholds below the one that it reports, which are over with it', () => {
    const [condition] = findAlertConditions({ ...quiet, ...spent(170) })
    const name = (step: number) => `budget ${budget.counter} ${budget.periodName} ${step}`
    expect([condition?.crossing, condition?.includes]).toEqual([name(80), [name(50)]])
  })
})
