import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { alertEvents } from '../../../src/core/alert.ts'
import { findChanges } from '../../../src/daemon/alerts/changes.ts'
import { findAlertConditions, lasts, type Observed } from '../../../src/daemon/alerts/conditions.ts'
import { afterTry } from '../../../src/daemon/alerts/delivery.ts'

const start = Date.parse('2026-03-10T00:00:00Z')
const dayMs = 24 * 3600_000
const states = ['ready', 'failing', 'recovering', 'unchecked'] as const

/** One look: each figure as it may be a moment later, also lower than before. */
const look = fc.record({
  passed: fc.integer({ min: -dayMs, max: 5 * dayMs }),
  used: fc.constantFrom(0, 40, 50, 79, 80, 99, 100, 250),
  limit: fc.constantFrom(100, 200),
  state: fc.constantFrom(...states),
  failures: fc.constantFrom(0, 2, 6, 8, 11, 50),
  requests: fc.constantFrom(0, 19, 100),
  free: fc.constantFrom(null, 0.05, 0.099, 0.11, 0.13, 0.5),
})
type Look = typeof look extends fc.Arbitrary<infer Value> ? Value : never

function observed({ used, limit, state, failures, requests, free }: Look, now: number): Observed {
  const month = new Date(now).toISOString().slice(0, 7)
  const budget = { counter: 'c', policy: 'p', scope: 'workspace', kind: 'usd', period: 'month' } as const
  return {
    now,
    budgets: [{ ...budget, used, limit, periodName: month, resetsAt: month }],
    providers: [{ id: 'prv_1', name: 'openai', state: { state, reason: null, since: null } }],
    traffic: { requests, failures: Math.min(failures, requests) },
    disk: free === null ? null : { freeBytes: free * 1e6, totalBytes: 1e6 },
    expiries: [{ resource: 'key:a/b/ci', at: start + 20 * dayMs }],
  }
}

interface Said {
  type: string
  crossings: string[]
}

/** What one alert says in one look after the other. */
function follow(looks: readonly Look[]): { said: Said[]; reported: Set<string> } {
  const reported = new Set<string>()
  const said: Said[] = []
  let now = start
  for (const each of looks) {
    now += each.passed
    const seen = observed(each, now)
    const { crossed, ended, reports } = findChanges(alertEvents, findAlertConditions(seen), reported, {
      ...seen,
      unknown: new Set(),
    })
    // What is over was reported, and what is reported was not.
    for (const crossing of ended) expect(reported.delete(crossing)).toBe(true)
    for (const crossing of crossed) reported.add(crossing)
    for (const {
      message: { type },
    } of reports)
      said.push({ type, crossings: crossed })
    expect(reports.every(({ message }) => message.timestamp === new Date(now).toISOString())).toBe(true)
  }
  return { said, reported }
}

describe('what an alert reports, whatever happens and whatever the clock does,', () => {
  it('is no threshold of a period and no date twice, and no lower one after a higher', () => {
    fc.assert(
      fc.property(fc.array(look, { maxLength: 25 }), (looks) => {
        const { said } = follow(looks)
        // 14, 3 and 0 days before the one date.
        expect(said.filter(({ type }) => type === 'expiry.soon').length).toBeLessThanOrEqual(3)
        const budgets = said.filter(({ type }) => type.startsWith('budget.'))
        const steps = budgets.map(({ crossings }) => {
          const [highest = ''] = crossings.filter((crossing) => crossing.startsWith('budget '))
          const [, , period = '', step = ''] = highest.split(' ')
          return { period, step: Number(step) }
        })
        for (const [at, { period, step }] of steps.entries())
          for (const later of steps.slice(at + 1)) if (later.period === period) expect(later.step).toBeGreaterThan(step)
      }),
      { numRuns: 200 },
    )
  })

  it('says of a provider in turn that it fails and that it works again', () => {
    fc.assert(
      fc.property(fc.array(look, { maxLength: 25 }), (looks) => {
        const { said } = follow(looks)
        const turns = said.map(({ type }) => type).filter((type) => type.startsWith('provider.'))
        expect(turns).toEqual(turns.map((_, place) => (place % 2 === 0 ? 'provider.failing' : 'provider.recovered')))
      }),
      { numRuns: 200 },
    )
  })

  it('is forgotten once it is over, unless it is of a period or a date', () => {
    fc.assert(
      fc.property(fc.array(look, { minLength: 1, maxLength: 25 }), (looks) => {
        const well = { passed: 0, used: 0, limit: 100, state: 'ready', failures: 0, requests: 100, free: 0.5 } as const
        const { reported } = follow([...looks, well])
        expect([...reported].filter((crossing) => !lasts(crossing))).toEqual([])
      }),
    )
  })
})

describe('a delivery that fails', () => {
  it('is tried eight times within a day, and as often again for who asks for it', () => {
    let now = start
    for (const round of [0, 8, 16]) {
      const begun = now
      for (let tries = round; tries < round + 8; tries++) {
        const after = afterTry(tries, { status: 500, reason: 'it answered 500' }, now)
        const isLast = tries === round + 7
        expect(after).toMatchObject({ tries: tries + 1, state: isLast ? 'failed' : 'pending' })
        expect([after.nextAt === null, after.endedAt === null]).toEqual([isLast, !isLast])
        now = after.nextAt === null ? now : Date.parse(after.nextAt)
      }
      expect(now - begun).toBeLessThanOrEqual(dayMs + 1)
    }
  })

  it('is over with the first that arrives', () => {
    for (let tries = 0; tries < 20; tries++)
      expect(afterTry(tries, { status: 204, reason: null }, start)).toMatchObject({
        ...{ state: 'delivered', nextAt: null, endedAt: new Date(start).toISOString(), status: 204 },
      })
  })
})
