import { describe, expect, it } from 'vitest'
import { runLine } from './run-line.ts'

const key = { id: 'key_1', name: 'web', project: 'search', environment: 'staging', state: 'revoked', policy: null }
const scope = { project: 'search', environment: 'staging' }
const whole = { project: 'search', environment: null }
const gateway = {
  'keys.revoke': () => key,
  'requests.stats': ({ key: of, since }: Record<string, unknown>) =>
    of === 'key_1' && since === '24h' ? [{ requests: 1510 }] : [],
  'providers.add': () => ({ id: 'prv_1', name: 'openai', state: 'ready', state_reason: null }),
  'providers.deactivate': () => ({ id: 'prv_2', name: 'dead', active: false }),
  'routes.list': () => [
    { model: 'smart', ...scope, enabled: true, targets: [{ provider: 'dead' }, { provider: 'demo' }] },
    { model: 'only', ...scope, enabled: true, targets: [{ provider: 'dead' }] },
    { model: 'spare', ...whole, enabled: true, targets: [{ provider: 'demo' }, { provider: 'dead' }] },
    { model: 'off', ...scope, enabled: false, targets: [{ provider: 'dead' }] },
  ],
  'keys.show': () => key,
}
const run = async (...argv: string[]) => {
  const { status, io } = await runLine([...argv, '--yes'], { gateway })
  expect(status).toBe(0)
  return [io.out(), io.err()]
}

describe('after a write', () => {
  it('one line says what it came to, and another what is done next', async () => {
    expect(await run('keys', 'revoke', 'web')).toEqual([
      '✓ Revoked key web in search/staging: 1,510 requests in the last day used it\n',
      'It stays listed. To remove it: spgw keys remove web -p search -e staging\n',
    ])
    expect(await run('providers', 'add', 'openai', '--kind', 'demo')).toEqual([
      '✓ Added provider openai: ready\n',
      'Next, a route to it: spgw routes add MODEL --provider openai\n',
    ])
    expect(await run('providers', 'deactivate', 'dead')).toEqual([
      '✓ Deactivated provider dead: smart in search/staging loses its first target, only in search/staging has no other target, spare in all of search loses a fallback\n',
      'To undo: spgw providers activate dead\n',
    ])
  })

  it('of a revocation names the nodes that it did not reach', async () => {
    const missing = [{ name: 'gw-c', last_heard_at: '2026-11-30T06:10:56.046Z' }]
    const nodes = { reached: ['gw-a'], missing }
    const cut = {
      'keys.revoke': () => ({ ...key, nodes }),
      'tokens.revoke': () => ({ id: 'tok_1', name: 'deploy', nodes }),
      'sessions.revoke': () => ({ revoked: 2, nodes }),
    }
    const told = async (...argv: string[]) => {
      const { io } = await runLine([...argv, '--yes'], { gateway: { ...gateway, ...cut } })
      return [io.out(), io.err()]
    }
    const words = (what: string) =>
      `Not reached: gw-c (last heard of 2026-11-30T06:10:56.046Z). Each admits the ${what} until it reaches PostgreSQL or Valkey: spgw cluster status\n`
    expect((await told('keys', 'revoke', 'web'))[1]).toBe(words('key'))
    expect(await told('tokens', 'revoke', 'deploy')).toEqual(['✓ Revoked API token deploy\n', words('token')])
    expect(await told('sessions', 'revoke', '--operator', 'anna')).toEqual(['✓ Ended 2 sessions\n', words('session')])
  })

  it.each([
    [['keys', 'remove', 'web'], 'admits the key'],
    [['keys', 'rotate', 'web', '--grace', '0s'], 'admits the old secret and not the new one'],
    [['tokens', 'remove', 'web'], 'admits the token'],
    [['keys', 'edit', 'web', '--expires', '1h'], 'goes by the earlier expiry and policy of the key'],
    [['policies', 'edit', 'web', '--rpm', '5'], 'goes by the earlier rules of the policy'],
    [['policies', 'remove', 'web'], 'applies the policy'],
    [['projects', 'remove', 'web'], 'keeps the project'],
    [['environments', 'remove', 'web'], 'keeps the environment'],
    [['operators', 'disable', 'web'], 'admits the operator'],
    [['operators', 'remove', 'web'], 'admits the operator'],
    [['operators', 'edit', 'web', '--role', 'viewer'], 'admits the operator with the roles of before'],
    [['operators', 'reset', 'web'], 'admits the operator as before'],
  ])('that takes something away names the nodes that PostgreSQL does not reach: %s', async (argv, does) => {
    const nodes = { reached: ['gw-a'], missing: [{ name: 'gw-c', last_heard_at: '2026-11-30T06:10:56.046Z' }] }
    const answer = { id: 'it_1', name: 'web', key: 'sp_live_new', link: 'http://localhost/link/1', nodes }
    const operation = argv.slice(0, 2).join('.')
    const isAsked = !['keys.rotate', 'keys.edit', 'policies.edit'].includes(operation)
    const { io } = await runLine([...argv, ...(isAsked ? ['--yes'] : [])], {
      gateway: { [operation]: () => answer },
    })
    expect(io.err()).toContain(
      `Not reached: gw-c (last heard of 2026-11-30T06:10:56.046Z). Each ${does} until it reaches PostgreSQL: spgw cluster status\n`,
    )
  })

  it('of a policy says where to see what is used of it, if there is a limit to use up', async () => {
    const added = (more: object) => ({ name: 'safe', attached_to: ['workspace'], ...more })
    const told = async (more: object) => {
      const { io } = await runLine(['policies', 'add', 'safe'], { gateway: { 'policies.add': () => added(more) } })
      return io.err()
    }
    expect(await told({ rpm: null, capture: 'full' })).toBe('')
    expect(await told({ rpm: 60 })).toBe('To see what is used of it: spgw policies usage safe\n')
    expect(await told({ budget_usd_day: 5 })).toContain('spgw alerts add NAME --url URL --on budget')
    expect(await told({ attached_to: [] })).toContain('It applies to nothing yet.')
  })

  it('of a budget does not ask for an alert that is there', async () => {
    const alert = { name: 'ops', active: true, on: ['budget', 'disk'] }
    const told = async (more: object) => {
      const made = { name: 'safe', attached_to: ['workspace'], budget_usd_day: 5 }
      const alerts = { 'alerts.list': () => [{ ...alert, ...more }], 'policies.add': () => made }
      return (await runLine(['policies', 'add', 'safe'], { gateway: alerts })).io.err()
    }
    expect(await told({})).toBe('To see what is used of it: spgw policies usage safe\n')
    expect(await told({ active: false })).toContain('spgw alerts add')
    expect(await told({ on: ['disk'] })).toContain('spgw alerts add')
  })

  it.each([
    ['rename', 'acme'],
    ['edit', '--time-zone', 'Europe/Berlin'],
  ])('is one of the workspace: %s %s', async (...argv) => {
    const answer = { id: 'workspace', name: 'acme', time_zone: 'Europe/Berlin' }
    const { io } = await runLine(['workspace', ...argv], { gateway: { [`workspace.${argv[0]}`]: () => answer } })
    expect(io.out()).toBe('✓ Changed workspace acme\n')
  })

  it('programs get all of it, and show leaves out what has no value', async () => {
    expect(JSON.parse((await run('keys', 'revoke', 'web', '--json'))[0] ?? '')).toEqual(key)
    expect((await run('keys', 'show', 'web'))[0]).not.toContain('Policy')
    expect((await run('keys', 'show', 'web', '--columns', 'name,policy'))[0]).toContain('Policy  –')
  })

  it('it is still done where the gateway cannot say what it means', async () => {
    const { status, io } = await runLine(['keys', 'revoke', 'web', '--yes'], {
      gateway: { 'keys.revoke': () => key },
    })
    expect([status, io.out()]).toEqual([0, '✓ Revoked key web in search/staging\n'])
  })
})

describe('a cluster', () => {
  const heard = { version: '0.1.0', sequence: 2, last_heard_at: '2026-03-01T12:00:00Z', clock_ahead_ms: null }
  const node = { name: 'gw-a', state: 'present', ...heard }
  const shown = {
    ...{ cluster: 'clu_1', node: 'gw-b', postgres: 'db:5432/spgw', trouble: null, sequence: 2, pending: 0 },
    ...{ limits: 'local', records: 'local', nodes: [node, { ...node, name: 'gw-b' }] },
  }
  const said = async (argv: string[], output: object) => {
    const { io } = await runLine(['cluster', ...argv], { gateway: { [`cluster.${argv[0]}`]: () => output } })
    return io.out() + io.err()
  }

  it.each([
    [['init', '--yes'], shown, /^✓ Created cluster clu_1 in db:5432\/spgw, .* node gw-b\n.*spgw cluster invite\n$/],
    [['join', 'sp_join_x', '--yes'], shown, /^✓ Joined cluster clu_1 as node gw-b: 2 nodes\n/],
    [
      ['join', 'sp_join_x', '--yes'],
      { ...shown, key_to_replace: '/run/key' },
      /: 2 nodes\n.*machine\.key\.next .* in place of \/run\/key, and restart\./,
    ],
    [
      ['remove', 'gw-c', '--yes'],
      shown,
      /^✓ Removed the node from cluster clu_1: 2 nodes\nIf it still runs, stop it: /,
    ],
    [['leave', '--yes'], { cluster: 'clu_1' }, /^✓ Left cluster clu_1\n/],
    [
      ['dissolve', '--yes'],
      { cluster: 'clu_1', records: 12 },
      /^✓ Ended cluster clu_1; 12 records of other nodes are here now\n/,
    ],
    [['drain'], { node: 'gw-b', draining: true, running: 0 }, /^✓ Node gw-b is out of service: nothing runs on it any/],
    [['drain'], { node: 'gw-b', draining: true, running: 2 }, /2 requests are still running/],
    [
      ['drain'],
      { node: 'gw-b', draining: true, running: 0, kept: 'no route' },
      /^✓ Node gw-b is out of service; it could not give back its part of budgets: no route\nYou can stop it: /,
    ],
    [['drain', '--undo'], { node: 'gw-b', draining: false, running: 0 }, /^✓ Node gw-b is back in service\n/],
  ])('says what %j came to', async (argv, output, words) => {
    expect(await said(argv, output)).toMatch(words)
  })

  it('is shown in words, also where there is none yet', async () => {
    expect(await said(['status'], shown)).toMatch(
      /Cluster +clu_1\n(.*\n)*Last change +2\n(.*\n)*NAME .* LAST CHANGE +LAST HEARD OF/,
    )
    const valkey = { server: 'cache:6379', trouble: 'OOM', since: '2026-03-01T11:59:00Z', meanwhile: 'refuse' }
    expect(await said(['status'], { ...shown, valkey })).toMatch(
      /\nValkey +cache:6379 cannot be used, noticed .*: OOM; meanwhile nothing of shared limits passes here\n/,
    )
    const clocks = 'gw-b is 3600 s ahead of PostgreSQL. Keep clocks together (NTP)'
    const apart = await said(['status'], { ...shown, clocks, nodes: [node, { ...node, clock_ahead_ms: -3_600_000 }] })
    expect(apart).toMatch(/\nClocks apart +gw-b is 3600 s ahead of PostgreSQL\. Keep clocks/)
    expect(apart).toMatch(/CLOCK AHEAD\n(.*\n)*.* -1 h\n/)
    const none = await said(['status'], { ...shown, cluster: null, sequence: null, nodes: [] })
    expect(none).toContain('none yet: cluster init creates one')
  })
})

describe('a rotation', () => {
  it.each([
    [
      '2026-03-02T12:00:00.000Z',
      'The old secret works until 2026-03-02T12:00:00.000Z (in 1 d). A rotation with --grace 0s ends it at once.',
    ],
    [null, 'The old secret no longer works.'],
  ])('says until when the old secret works (%s)', async (ends, words) => {
    const rotated = { ...key, key: 'sp_live_new', expires_at: null, grace_ends_at: ends }
    const { io } = await runLine(['keys', 'rotate', 'web'], { gateway: { 'keys.rotate': () => rotated } })
    expect(io.out()).toBe('sp_live_new\n')
    expect(io.err()).toContain(words)
  })
})

describe('--web', () => {
  const status = { status: () => ({ console_url: 'http://localhost:8788' }) }

  it.each([
    [['providers', 'show', 'open ai'], '/providers/open%20ai'],
    [['requests', 'list', '--errors'], '/requests'],
    [['routes', 'show', 'gpt-*'], '/routing/gpt-*'],
    [['status'], '/'],
    [['audit', 'list'], '/settings/operations/audit.list'],
  ])('%j is %s of the console', async (argv, page) => {
    const { io, calls } = await runLine([...argv, '--web'], { gateway: status })
    expect([io.out(), calls.map(([name]) => name)]).toEqual([`http://localhost:8788${page}\n`, ['status']])
  })

  it('names a key by its ID, whatever it was asked for by', async () => {
    const gateway = { ...status, 'keys.show': () => ({ id: 'key_1' }) }
    const { io, calls } = await runLine(['keys', 'show', 'sp_live_whole', '-p', 'web', '--web'], { gateway })
    expect([io.out(), io.err()]).toEqual(['http://localhost:8788/keys/key_1\n', ''])
    expect(calls.at(-1)).toEqual(['keys.show', expect.objectContaining({ key: 'sp_live_whole', project: 'web' })])
  })

  it('is refused for what changes something, and without a console', async () => {
    const write = await runLine(['keys', 'revoke', 'web', '--yes', '--web'], { gateway: status })
    expect([write.status, write.calls]).toEqual([2, []])
    const none = await runLine(['status', '--web'], { gateway: { status: () => ({ console_url: null }) } })
    expect([none.status, none.io.err()]).toEqual([1, expect.stringContaining('no console')])
  })
})
