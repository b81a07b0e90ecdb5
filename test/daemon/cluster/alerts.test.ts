import { describe, expect, it } from 'vitest'
import type { ClusterNode } from '../../../src/cluster/node.ts'
import type { AlertReport } from '../../../src/daemon/alerts/changes.ts'
import { claimReports } from '../../../src/daemon/cluster/alerts.ts'

const report = (crossing: string, includes: string[] = [], formerly: string[] = []): AlertReport => {
  const data = { resource: crossing, scope: null, percent: null, text: `Of ${crossing}.` }
  return {
    crossing,
    includes,
    formerly,
    message: { type: 'budget.threshold', timestamp: '2026-03-10T12:00:00.000Z', data },
  }
}
const spent = report('budget pol_a 80', ['budget pol_a 50'])
const key = report('expiry key:default/production/web 3')
const certificate = report('expiry certificate:gateway 3')
const provider = report('provider prv_a')

type Ask = (name: string, input: { crossings: string[] }) => Promise<string[]>

function claim(reports: AlertReport[], ask: Ask, { isMember = true, sharesBudgets = true } = {}) {
  const state = isMember ? { cluster: 'clu_1', member: 'nod_a' } : null
  const node = { state, link: { ask } } as object as ClusterNode
  return claimReports({ node, name: 'gw-a', settings: { sharesBudgets } }, 'alr_a', reports)
}

describe('what a node sends of an alert', () => {
  it('is what no other sends already, of what all of them find', async () => {
    const asked: unknown[] = []
    const ask: Ask = async (name, input) => {
      asked.push([name, input])
      return ['budget pol_a 50', key.crossing]
    }
    expect(await claim([spent, key], ask)).toEqual([spent])
    const crossings = [spent.crossing, 'budget pol_a 50', key.crossing]
    expect(asked).toEqual([['claim-alert', { member: 'nod_a', alert: 'alr_a', crossings }]])
  })

  it('is none of what a node of an earlier version sends under another name, and is claimed by that name too', async () => {
    const old = ['budget pol_a 2026-04-01T00:00:00.000Z 80', 'budget pol_a 2026-04-01T00:00:00.000Z 50']
    const renamed = report(spent.crossing, [...spent.includes], old)
    const asked: string[] = []
    const ask: Ask = async (_, { crossings }) => {
      asked.push(...crossings)
      return old.slice(0, 1)
    }
    expect(await claim([renamed], ask)).toEqual([])
    expect(asked).toEqual([spent.crossing, 'budget pol_a 50', ...old])
    expect(await claim([renamed], async () => old.slice(1))).toEqual([renamed])
  })

  it('names the node, of what is its own', async () => {
    const ask: Ask = () => Promise.reject(new Error('nobody is asked'))
    const own = await claim([certificate, provider], ask)
    expect(own.map(({ message }) => [message.data.text, message.data.node])).toEqual([
      ['Node gw-a: Of expiry certificate:gateway 3.', 'gw-a'],
      ['Node gw-a: Of provider prv_a.', 'gw-a'],
    ])
    const [local] = await claim([spent], ask, { sharesBudgets: false })
    expect(local?.message.data).toMatchObject({ node: 'gw-a' })
  })

  it('is all of it where PostgreSQL is not reached, and before it is a member of a cluster', async () => {
    const away: Ask = () => Promise.reject(new Error('PostgreSQL was not reached'))
    expect(await claim([spent, key], away)).toEqual([spent, key])
    expect(await claim([spent, provider], away, { isMember: false })).toEqual([spent, provider])
  })

  it('waits for no PostgreSQL that does not answer', async () => {
    expect(await claim([key], () => new Promise(() => {}))).toEqual([key])
  })
})
