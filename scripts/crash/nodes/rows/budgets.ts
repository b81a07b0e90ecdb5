import { setTimeout as wait } from 'node:timers/promises'
import { readRecords } from '../../scene.ts'
import type { FaultRow } from '../fault-row.ts'
import { chat } from '../probe.ts'

const budgetUsd = 0.05
/** Calls that must have ended before the first kill and between two. */
const callsBetween = 150

export const budgets: FaultRow = {
  name: 'budgets',
  fault: 'clients of three nodes that spend five cents, nodes killed meanwhile (`--clients 67`: 200)',
  counts: 'kills',
  usual: 5,
  async run(scene, { times }) {
    scene.begin(['spending'])
    const [first] = scene.nodes
    if (first === undefined) throw new Error('there is no node')
    for (let kills = 0; kills < times; kills++) {
      const victim = scene.random.pick(scene.nodes)
      for (const until = scene.spent + callsBetween; scene.spent < until; ) await wait(20)
      await scene.kill(victim)
      await scene.restart(victim)
    }
    const isOver = async () =>
      (await chat(first.gateway.baseUrl, scene.spender, 'priced')).headers.get('x-sp-error') === 'budget_exceeded'
    for (let tries = 0; !(await isOver()) && tries < 600; tries++) await wait(100)
    await scene.settle()
    const records = await readRecords(first.gateway.admin, new Date(0))
    const spent = records.reduce((sum, { cost }) => sum + (cost?.usd ?? 0), 0)
    const refused = records.filter(({ error }) => error?.code === 'budget_exceeded').length
    if (spent < budgetUsd * 0.9) scene.problem(`requests are refused, and only ${spent} of ${budgetUsd} USD are spent`)
    return { kills: times, 'spent, USD': spent.toFixed(6), refused }
  },
}
