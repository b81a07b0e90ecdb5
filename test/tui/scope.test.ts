import { afterEach, describe, expect, it } from 'vitest'
import { catalog } from '../../cli/catalog.ts'
import { sampleRecord } from '../support/sample-record.ts'
import { type Driven, drive, provider, streamOf } from './drive.ts'

let driven: Driven
afterEach(() => driven.stop())

const staging = { project: 'search', environment: 'staging' }
const route = (project: string, environment: string | null, model: string) => ({
  id: `rte_${model}`,
  model,
  project,
  environment,
  targets: [],
  strategy: 'priority',
  enabled: true,
})
const key = (project: string, environment: string, name: string) => ({
  id: `key_${name}`,
  name,
  project,
  environment,
  last_four: 'a1b2',
  state: 'active',
})

/** Operations that take a project, of those that were asked since. */
const scopedCalls = () =>
  driven.calls.filter(({ path }) => {
    const operation = catalog.find(({ name }) => name === path)
    return operation?.fields.some(({ name, shape }) => name === 'project' && shape === 'text')
  })

async function visitEveryList(): Promise<void> {
  for (const tab of ['1', '2', '3', '4', '5']) await driven.press(tab)
  for (const noun of ['Environments', 'Objects', 'Audit', 'Policies']) {
    await driven.press('6', 'g')
    while (!new RegExp(`▸ ${noun} `).test(driven.text(120, 60))) await driven.press('down')
    await driven.press('enter')
  }
}

describe('the scope', () => {
  it('holds for every list of every screen', async () => {
    driven = drive({}, staging)
    await visitEveryList()
    const calls = scopedCalls()
    const asked = [...new Set(calls.map(({ path }) => path))].sort()
    expect(asked).toEqual([
      'audit.list',
      'environments.list',
      'keys.list',
      'objects.list',
      'requests.list',
      'requests.series',
      'requests.stats',
      'requests.tail',
      'routes.list',
    ])
    for (const { path, input } of calls) {
      expect(input.project, path).toBe('search')
      const fields = catalog.find(({ name }) => name === path)?.fields ?? []
      if (fields.some(({ name }) => name === 'environment')) expect(input.environment, path).toBe('staging')
    }
  })

  it('is every project where none was named', async () => {
    driven = drive()
    await visitEveryList()
    expect(driven.text()).toContain('spgw  all projects')
    for (const { path, input } of scopedCalls()) {
      expect(input, path).not.toHaveProperty('project')
      const takesAll = catalog.find(({ name }) => name === path)?.fields.some(({ name }) => name === 'all')
      if (takesAll) expect(input.all, path).toBe(true)
    }
  })

  it.each([
    [{}, staging, '4', 'search/staging  ·  0 keys'],
    [{}, staging, '5', 'search/staging  ·  0 shown'],
    [{}, { project: 'search', environment: null }, '3', 'search  ·  0 routes'],
    [{}, undefined, '4', 'all projects  ·  0 keys'],
    [{ 'providers.list': [provider] }, undefined, '2', 'all projects  ·  1 provider'],
    [{ 'providers.list': [provider] }, staging, '2', 'usable in search  ·  1 provider'],
  ])('is said in the heading of a list: %o %o', async (answers, scope, tab, heading) => {
    driven = drive(answers, scope)
    await driven.press(tab)
    await driven.see(heading)
  })

  it('of a whole project leaves out what stands in others', async () => {
    const answers = {
      'keys.list': [key('search', 'staging', 'mine'), key('default', 'production', 'other')],
      'routes.list': [route('search', null, 'ours'), route('default', null, 'theirs')],
      'providers.list': [
        { ...provider, name: 'shared' },
        { ...provider, id: 'prv_2', name: 'given', projects: ['search'] },
        { ...provider, id: 'prv_3', name: 'hidden', projects: ['default'] },
      ],
    }
    driven = drive(answers, { project: 'search', environment: null })
    await driven.press('4')
    expect(await driven.see('mine')).not.toContain('other')
    await driven.press('3')
    expect(await driven.see('ours')).not.toContain('theirs')
    await driven.press('2')
    const providers = await driven.see('shared')
    expect(providers).toContain('given')
    expect(providers).not.toContain('hidden')
  })

  it('is on the overview above every part that it narrows, and the figures of the gateway say so', async () => {
    const status = { traffic: { requests_per_second: 3, error_share: 0, duration_p95_ms: 5, usd_per_hour: null } }
    driven = drive(
      {
        watch: () => streamOf([{ configuration: 1, status }]),
        'requests.list': [sampleRecord()],
        'providers.list': [provider],
      },
      staging,
    )
    const shown = await driven.see('Latest requests, search/staging')
    expect(shown).toContain('Last hour, search/staging')
    expect(shown).toContain('Providers usable in search, all their traffic')
    expect(shown).toContain('search/staging  gateway: ● 3.0 req/s')
  })

  it('is where a new thing is made, unless the form says otherwise', async () => {
    driven = drive({}, staging)
    await driven.press('4', 'a')
    const form = await driven.see('Create a gateway key')
    expect(form).toMatch(/Project +search/)
    expect(form).toMatch(/Environment +staging/)
    await driven.press('=ci', 'ctrl-s')
    const created = () => driven.calls.findLast(({ path }) => path === 'keys.create')
    await driven.until(() => created() !== undefined)
    expect(created()?.input).toMatchObject(staging)
  })

  it('is not mixed with that of the row that is acted on', async () => {
    driven = drive({ 'routes.list': [route('default', 'production', 'gpt')] }, undefined)
    await driven.press('3')
    await driven.see('gpt')
    await driven.press('enter')
    const asked = driven.calls.findLast(({ path }) => path === 'routes.show')?.input
    expect(asked).toEqual({ model: 'rte_gpt', project: 'default', environment: 'production' })
  })

  it('goes back to the list when another is chosen, whatever was open', async () => {
    driven = drive({ 'environments.list': [{ id: 'env_2', name: 'staging', project: 'search' }] })
    await driven.press('2', 'm', 's')
    await driven.see('search/staging')
    await driven.press('G', 'enter')
    expect(await driven.see('spgw  search/staging')).toContain('No providers yet.')
  })
})
