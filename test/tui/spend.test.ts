import { afterEach, describe, expect, it } from 'vitest'
import { noGroup } from '../../src/core/record.ts'
import { type Answers, type Driven, drive, streamOf } from './drive.ts'

let driven: Driven
afterEach(() => driven.stop())

const stats = (group: string, usd: number | null, requests = 10) => ({
  ...{ id: `id_${group}`, group, groups: [group], requests, errors: 0, input: 1200, output: 300, usd },
})
const byWay: Readonly<Record<string, unknown[]>> = {
  total: [],
  project: [stats('web', 5), stats('search', 15)],
  key: [stats('indexer', 12), stats('web', 3), stats(noGroup, null)],
  model: [stats('gpt-4o', 12), stats('house', null)],
  provider: [stats('openai', 12)],
  tag: [stats('team=search', 12), stats('feature=answers', 12)],
}
const answers: Answers = {
  'requests.stats': ({ by }: { by: string }) => byWay[by] ?? [],
  'requests.series': {
    groups: [
      { group: 'total', points: [0, 1, 2].map((usd) => ({ time: '2026-11-20T00:00:00.000Z', usd, requests: 9 })) },
    ],
  },
}

describe('spend', () => {
  it('shows what was spent over time, the dearest first', async () => {
    driven = drive(answers)
    await driven.press('$')
    const shown = await driven.see('Last 30 days, by project')
    expect(shown).toContain('·▄█')
    expect(shown).toMatch(/\$20\.00 {2}20 requests {2}2,400 → 600 tokens/)
    expect(shown).toMatch(/PROJECT +COST +SHARE +REQUESTS +TOKENS IN +TOKENS OUT\n▸ search +\$15\.00 +75%/)
  })

  it('asks the same of one row: the keys of a project, then the models of a key', async () => {
    driven = drive(answers)
    await driven.press('$', 'enter')
    await driven.see('Last 30 days, by key  ·  project search')
    await driven.press('enter')
    await driven.see('Last 30 days, by model  ·  key indexer of project search')
    expect(driven.calls.filter(({ path }) => path === 'requests.stats').at(-1)?.input).toEqual({
      ...{ since: '30d', by: 'model', project: 'search', key: 'id_indexer' },
    })
    await driven.press('escape')
    await driven.see('by key')
  })

  it('groups by another thing, and covers another time', async () => {
    driven = drive(answers)
    await driven.press('$', 'b', 'b')
    await driven.see('Last 30 days, by model')
    await driven.press('d')
    await driven.see('Last 90 days, by model')
    await driven.press('b', 'b')
    const shown = await driven.see('feature=answers')
    // Their sum is more than was spent.
    expect(shown).not.toContain('$24.00')
    await driven.press('down', 'l')
    await driven.until(() => driven.calls.some(({ path }) => path === 'requests.tail'))
    expect(driven.calls.find(({ path, input }) => path === 'requests.tail' && 'tags' in input)?.input).toMatchObject({
      tags: ['feature=answers'],
    })
  })

  it('says that what has no price is counted nowhere, and not of what has used nothing', async () => {
    driven = drive(answers)
    await driven.press('$', 'b', 'b')
    await driven.see('A cost of – means that a model has no price')
    await driven.press('b')
    expect(await driven.see('openai')).not.toContain('without a price')
  })

  it('stays with the row that was chosen when the order changes', async () => {
    let web = 5
    driven = drive({ ...answers, 'requests.stats': () => [stats('web', web), stats('search', 15)] })
    await driven.press('$', 'down')
    expect(await driven.see('▸ web')).toMatch(/search[\s\S]*▸ web/)
    web = 50
    await driven.press('r')
    expect(await driven.see('$50.00')).toMatch(/▸ web[\s\S]*search/)
    await driven.press('enter')
    await driven.see('project web')
  })

  it('opens nothing of what has no key, since no filter finds it', async () => {
    driven = drive(answers)
    await driven.press('$', 'b', 'G', 'enter')
    expect(await driven.see('by key')).toContain(`▸ ${noGroup}`)
  })

  it('is reached by name, from the menu, and from a row', async () => {
    const key = { id: 'key_1', name: 'indexer', project: 'search', environment: 'production', state: 'active' }
    driven = drive({ ...answers, 'keys.list': [key] })
    await driven.press(':', '=spend', 'enter')
    await driven.see('Last 30 days, by project')
    await driven.press('6', 'G', 'enter')
    await driven.see('Last 30 days, by project')
    await driven.press('4')
    await driven.see('indexer')
    await driven.press('$')
    await driven.see('by model  ·  key indexer')
  })

  it('groups by node where the records of all nodes are read', async () => {
    driven = drive({
      ...answers,
      watch: () => streamOf([{ configuration: 1, status: { cluster: { records: 'shared' } } }]),
      'requests.stats': ({ by }: { by: string }) => (by === 'node' ? [stats('gw-a', 4), stats('gw-b', 8)] : byWay[by]),
    })
    await driven.press('$', 'b', 'b', 'b', 'b')
    await driven.see('by tag')
    await driven.press('b')
    expect(await driven.see('by node')).toMatch(/▸ gw-b +\$8\.00/)
    await driven.press('enter')
    await driven.see('by model  ·  node gw-b')
  })

  it('says why nothing can be shown', async () => {
    driven = drive({ 'requests.stats': () => Promise.reject(new Error('The gateway is busy.')) })
    await driven.press('$')
    await driven.see('The gateway is busy.')
  })

  it('keeps to the scope', async () => {
    driven = drive(answers, { project: 'search', environment: 'production' })
    await driven.press('$')
    await driven.see('search/production')
    expect(driven.calls.filter(({ path }) => path === 'requests.stats').at(-1)?.input).toMatchObject({
      ...{ project: 'search', environment: 'production' },
    })
  })
})
