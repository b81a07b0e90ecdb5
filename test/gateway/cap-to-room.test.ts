import { expect, it } from 'vitest'
import type { Call } from '../../src/gateway/request/call.ts'
import { holdFirst } from '../../src/gateway/upstream/hold-budgets.ts'
import type { BudgetNeed, BudgetRefusal } from '../../src/policy/limits/budget-counters.ts'

const limit = { kind: 'tokens', period: 'day', policy: 'p', scope: 'workspace', warns: false, caps: true }

/** A call that may write so much; `roomAt`: what is left of a budget at each try, as others spend it. */
function stage(roomAt: (tries: number) => number, budgets = 1) {
  const needs: number[] = []
  const holdBudgets = (_hold: unknown, need: BudgetNeed): BudgetRefusal | null => {
    needs.push(need.tokens)
    const room = roomAt(needs.length)
    if (need.tokens <= room) return null
    const use = { used: 2000 - room, held: 0, holders: 0 }
    return { limit, period: { end: 0 }, need: BigInt(need.tokens), most: 2000, use, why: 'spent', want: null } as never
  }
  const policySignals: { rule: string }[] = []
  const hold = { limits: Array.from({ length: budgets }, () => limit), budgets: [], user: null, heldFor: null }
  const call = {
    gateway: {
      limits: { holdBudgets, budgetUse: () => ({ used: 2000, held: 0, holders: 0 }) },
      model: { configuration: { providers: new Map(), timeZone: 'UTC' } },
    },
    arrival: { limits: { hold }, receivedAt: 0, unpriced: null },
    body: { bytes: Buffer.alloc(0) },
    inputTokens: 0,
    match: { endpoint: { usesTokens: true, outputLimits: { names: ['max_tokens'], within: null }, socket: null } },
    inspection: { model: 'm', outputLimit: 1000, streamed: false, answers: 1 },
    trace: { policySignals, shadowOf: null, attempts: [] },
    outputCap: null,
    roomNote: null,
  } as unknown as Call
  const fault = holdFirst(call, { upstreamModel: 'm', provider: { id: 'prv_1' } }, 0)
  return { fault, needs, cap: call.outputCap, rules: policySignals.map(({ rule }) => rule) }
}

it('caps an answer at what is left', () => {
  expect(stage(() => 300)).toEqual({ fault: null, needs: [1000, 300], cap: 300, rules: ['output'] })
})

it('refuses where less is left than an answer of use needs, and where nothing is', () => {
  for (const room of [15, 0]) {
    const { fault, needs, cap } = stage(() => room)
    expect([fault?.code, needs, cap]).toEqual(['budget_exceeded', [1000], null])
  }
})

it('caps no oftener than there are budgets, however others spend what is left meanwhile', () => {
  const { fault, needs, rules } = stage((tries) => 900 - tries, 2)
  expect([fault?.code, needs]).toEqual(['budget_exceeded', [1000, 899, 898]])
  expect(rules).toEqual(['output', 'budget'])
})
