import { describe, expect, it } from 'vitest'
import { runLine } from './run-line.ts'

const rows = [
  {
    name: 'ci',
    last_four: 'a1b2',
    state: 'active',
    project: 'default',
    tags: { team: 'x' },
    last_used_at: null,
    created_by: 'ops',
  },
  {
    name: 'web',
    last_four: 'c3d4',
    state: 'revoked',
    project: 'search',
    tags: {},
    last_used_at: null,
    created_by: 'ops',
  },
]
const gateway = { 'keys.list': () => rows }
const list = async (...flags: string[]) => {
  const { status, io } = await runLine(['keys', 'list', ...flags], { gateway })
  return { status, out: io.out(), err: io.err() }
}

describe('what a list covers', () => {
  it.each([
    [[], {}, 'All projects and environments', {}],
    [['-p', 'search'], {}, 'Project search, all environments', { project: 'search' }],
    [['-e', 'staging'], {}, 'All projects, environment staging', { environment: 'staging' }],
    [[], { SPGW_PROJECT: 'search' }, 'Project search, all environments', { project: 'search' }],
    [['--all'], { SPGW_PROJECT: 'search' }, 'All projects and environments', { project: 'search', all: true }],
  ])('with %j and %j is %s', async (flags, environment, words, input) => {
    const ran = await runLine(['keys', 'list', ...flags], { gateway, terminal: true, environment })
    expect([ran.io.err(), ran.calls]).toEqual([`${words}\n`, [['keys.list', expect.objectContaining(input)]]])
    const piped = await runLine(['keys', 'list', ...flags], { gateway, environment })
    expect(piped.io.err()).toBe('')
  })

  it('with --all is everything for whatever is read of several projects', async () => {
    const environment = { SPGW_PROJECT: 'search', SPGW_ENVIRONMENT: 'staging' }
    for (const line of ['requests list', 'requests stats', 'audit list']) {
      const ran = await runLine([...line.split(' '), '--all', '-p', 'web'], {
        gateway: { 'requests.list': () => [], 'requests.stats': () => [], 'audit.list': () => [] },
        environment,
      })
      expect([line, ran.status, ran.calls[0]?.[1].project, ran.calls[0]?.[1].environment]).toEqual([
        line,
        0,
        undefined,
        undefined,
      ])
    }
    expect((await runLine(['requests', 'purge', '--until', '0s', '--all'], { environment })).status).toBe(2)
  })
})

describe('--columns', () => {
  it('names columns by title or by field, in the order that was asked for', async () => {
    expect((await list('--columns', 'state,NAME')).out).toBe('STATE    NAME\nactive   ci\nrevoked  web\n')
    expect((await list('--columns', 'last-four,last_used_at')).out).toBe(
      'LAST FOUR  LAST USED\na1b2       –\nc3d4       –\n',
    )
  })

  it('selects members of JSON and YAML too, as does --json=a,b', async () => {
    const wanted = [
      { name: 'ci', last_used_at: null, 'tags.team': 'x' },
      { name: 'web', last_used_at: null, 'tags.team': null },
    ]
    expect(JSON.parse((await list('--columns', 'name,last-used,tags.team', '--json')).out)).toEqual(wanted)
    expect(JSON.parse((await list('--json=name,last-used,tags.team')).out)).toEqual(wanted)
    expect((await list('--columns', 'name,state', '--output', 'yaml')).out).toBe(
      '- name: ci\n  state: active\n- name: web\n  state: revoked\n',
    )
    expect((await list('--json=nothing')).status).toBe(2)
    const record = { id: 'req_1', key: { id: 'key_1', name: 'ci' }, cost: { usd: 0.5, price_version: 'p' } }
    const requests = async (...flags: string[]) =>
      (await runLine(['requests', 'list', ...flags], { gateway: { 'requests.list': () => [record] } })).io.out()
    expect(JSON.parse(await requests('--json=id,cost,key'))).toEqual([record])
    expect(JSON.parse(await requests('--json=key.name,cost.usd'))).toEqual([{ 'key.name': 'ci', 'cost.usd': 0.5 }])
    expect(await requests('--columns', 'key,cost', '--output', 'csv')).toBe('key.name,cost.usd\nci,0.5\n')
    const row = { ...rows[0], id: 'key_1' }
    const shown = await runLine(['keys', 'show', '--json=name,state', 'ci'], { gateway: { 'keys.show': () => row } })
    expect(JSON.parse(shown.io.out())).toEqual({ name: 'ci', state: 'active' })
    // A bare --json never takes the next word.
    const bare = await runLine(['keys', 'show', '--json', 'ci'], { gateway: { 'keys.show': () => row } })
    expect(bare.calls).toMatchObject([['keys.show', { key: 'ci' }]])
  })

  it('takes any other field of a row, and paths into it', async () => {
    expect((await list('--columns', 'name,created-by')).out).toBe('NAME  CREATED-BY\nci    ops\nweb   ops\n')
    expect((await list('--columns', 'name,tags.team', '--output', 'csv')).out).toBe('name,tags.team\nci,x\nweb,\n')
  })

  it('refuses what no row has, with the nearest name, and an empty list', async () => {
    expect(await list('--columns', 'stat')).toMatchObject({
      status: 2,
      err: expect.stringContaining('Did you mean state?'),
    })
    expect(await list('--columns', ' , ')).toMatchObject({
      status: 2,
      err: expect.stringContaining('--columns is empty'),
    })
  })

  it('holds for rows that come one by one', async () => {
    const tail = async function* () {
      yield { id: 'req_a', model: 'gpt', status: 200 }
    }
    const { io } = await runLine(['requests', 'tail', '--columns', 'model,id'], { gateway: { 'requests.tail': tail } })
    expect(io.out().split('\n')[0]).toMatch(/^MODEL +ID$/)
  })
})

describe('--no-color', () => {
  it('beats a terminal and what the environment says', async () => {
    const environment = { NO_COLOR: '', FORCE_COLOR: '1' }
    const coloured = await runLine(['keys', 'list'], { gateway, environment })
    const plain = await runLine(['keys', 'list', '--no-color'], { gateway, environment })
    expect(coloured.io.out()).toContain('\u001b[')
    expect(plain.io.out()).not.toContain('\u001b[')
  })
})
