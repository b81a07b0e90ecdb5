import type pg from 'pg'
import type { BookedAmount } from '../core/journal-format.ts'
import type { BudgetAsk, BudgetReply } from './budgets.ts'
import type { Self } from './self.ts'

/** The use of one budget in its period, over all nodes, as each last reported it. */
export interface BudgetUse {
  counter: string
  period: string
  /** `spent` by the other nodes, and what they hold in addition. */
  spent: number
  held: number
}

/** A budget of which this node was given an allowance before this run, in a period that is not over. */
export interface HeldBudget {
  counter: string
  period: string
  start: number
  end: number
  /** What it said that it has spent of it. */
  spent: number
}

/** The questions about budgets. Each is one statement. */
export interface BudgetQuestions {
  /** `now`: PostgreSQL's clock, epoch milliseconds. */
  allow: {
    input: Self & { complete: boolean; asks: BudgetAsk[] }
    output: { member: boolean; now: number; replies: BudgetReply[] }
  }
  'held-budgets': { input: Self; output: HeldBudget[] }
  /** What other nodes spent or may have spent, in periods that are not over. */
  'spent-by-others': { input: Self; output: BookedAmount[] }
  'budget-use': { input: Self & { counters: string[] }; output: BudgetUse[] }
}

type BudgetAnswerers = {
  [Name in keyof BudgetQuestions]: (
    client: pg.Client,
    input: BudgetQuestions[Name]['input'],
  ) => Promise<BudgetQuestions[Name]['output']>
}

export const budgetAnswerers: BudgetAnswerers = {
  async allow(client, { member, incarnation, complete, asks }) {
    // Allowances must not be lost, whatever durability the database is configured for.
    const { rows } = await client.query<{ answer: BudgetQuestions['allow']['output'] }>(
      `select spgw.allow($1, $2, $3, $4) as answer, set_config('synchronous_commit', 'on', true)`,
      [member, incarnation, complete, JSON.stringify(asks)],
    )
    const { member: isMember, now = 0, replies = [] } = rows[0]?.answer ?? { member: false }
    return { member: isMember, now, replies }
  },

  async 'held-budgets'(client, { member }) {
    const { rows } = await client.query<{ counter: string; period: string; begins: Date; ends: Date; spent: string }>(
      'select counter, period, begins, ends, spent from spgw.allowances where member = $1 and ends > now()',
      [member],
    )
    return rows.map(({ counter, period, begins, ends, spent }) => ({
      ...{ counter, period, start: begins.getTime(), end: ends.getTime(), spent: Number(spent) },
    }))
  },

  async 'spent-by-others'(client, { member }) {
    const { rows } = await client.query<{ counter: string; period: string; amount: string }>(
      `select counter, period, sum(given) as amount from spgw.allowances
       where member <> $1 and ends > now() group by counter, period having sum(given) > 0`,
      [member],
    )
    return rows.map(({ counter, period, amount }) => [counter, period, Number(amount)])
  },

  async 'budget-use'(client, { member, counters }) {
    const { rows } = await client.query<{ counter: string; period: string; spent: string; held: string }>(
      `select counter, period, sum(spent) as spent, sum(given - spent) as held from spgw.allowances
       where counter = any ($2) and member <> $1 and ends > now() and begins <= now() group by counter, period`,
      [member, counters],
    )
    return rows.map(({ counter, period, spent, held }) => ({
      ...{ counter, period, spent: Number(spent), held: Math.max(0, Number(held)) },
    }))
  },
}
