import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ORPCError } from '@orpc/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { GatewayNotRunning } from '../../src/admin/client-fault.ts'
import { runLine } from './run-line.ts'

const canary = 'sk-canary-7fH2'
const key = {
  id: 'key_1',
  name: 'ci',
  key: 'sp_live_x',
  project: 'default',
  environment: 'production',
  expires_at: null,
}
const addProvider = { 'providers.add': () => ({ id: 'prv_1', name: 'openai', state: 'ready' }) }

function failing(error: unknown) {
  return { gateway: { 'keys.show': () => Promise.reject(error) } }
}

function answering(code: string, status: number) {
  return new ORPCError(code, { status, message: 'The cause.', data: { hint: 'What to do.' } })
}

describe('exit status', () => {
  it.each([
    ['not_found', 404, 4],
    ['conflict', 409, 5],
    ['refused', 403, 5],
    ['invalid', 400, 2],
    ['degraded', 503, 1],
    ['BAD_REQUEST', 400, 2],
    ['INTERNAL_SERVER_ERROR', 500, 1],
  ])('of an answer %s', async (code, http, status) => {
    const ran = await runLine(['keys', 'show', 'ci'], failing(answering(code, http)))
    expect(ran.status).toBe(status)
    expect(ran.io.err()).toBe('spgw: The cause.\nWhat to do.\n')
    expect(ran.io.out()).toBe('')
  })

  it('is 3 when no gateway runs', async () => {
    const ran = await runLine(['keys', 'show', 'ci'], failing(new GatewayNotRunning('/d/admin.sock', null)))
    expect(ran.status).toBe(3)
    expect(ran.io.err()).toContain('/d/admin.sock')
    expect(ran.io.err()).toContain('spgw serve')
  })

  it('is 1 for anything else, whose details come with --verbose only', async () => {
    const failure = new Error('The pipe broke.\nsecond line', { cause: new Error('deep down') })
    const brief = await runLine(['keys', 'show', 'ci'], failing(failure))
    expect([brief.status, brief.io.err().split('\n').length]).toEqual([1, 3])
    const verbose = await runLine(['keys', 'show', 'ci', '--verbose'], failing(failure))
    expect(verbose.io.err()).toContain('caused by Error: deep down')
  })

  it('is that of a local command, and of its typed failure', async () => {
    const local = (run: () => Promise<number>) => [{ name: 'init', summary: 'Begin', options: [], examples: [], run }]
    expect((await runLine(['init'], { local: local(async () => 7) })).status).toBe(7)
    const failure = Object.assign(new Error('The machine key is missing.'), { hint: 'Restore it.', exitStatus: 5 })
    const failed = await runLine(['init'], { local: local(() => Promise.reject(failure)) })
    expect([failed.status, failed.io.err()]).toEqual([5, 'spgw: The machine key is missing.\nRestore it.\n'])
  })

  it('comes with a note where records may be missing, once', async () => {
    const gateway = {
      'requests.list': () => [],
      'requests.tail': async function* () {},
      'keys.list': () => [{ name: 'ci' }],
    }
    const note = 'Note: The journal is degraded: requests since then wait, and may be missing here. See spgw status.\n'
    for (const line of ['requests list --json', 'requests tail']) {
      const sick = await runLine(line.split(' '), { gateway, degraded: ['thread', 'journal'] })
      expect([line, sick.status, sick.io.err()]).toEqual([line, 0, note])
      expect((await runLine(line.split(' '), { gateway, degraded: ['thread'] })).io.err()).toBe('')
    }
    expect((await runLine(['keys', 'list'], { gateway, degraded: ['journal'] })).io.err()).toBe('')
  })

  it('comes with a note where the use of budgets lacks what other nodes spent', async () => {
    const gateway = { 'policies.usage': () => [], 'policies.list': () => [] }
    const usage = async (...degraded: string[]) => {
      const { status, io } = await runLine(['policies', 'usage', '--json'], { gateway, degraded })
      return [status, io.err()]
    }
    const note = (reason: string) =>
      `Note: What other nodes have spent since 03:04 UTC is not in these budgets: ${reason}. See spgw status.\n`
    expect(await usage('postgres')).toEqual([0, note('this one cannot use PostgreSQL')])
    expect(await usage('membership', 'postgres')).toEqual([0, note('this one was removed from the cluster')])
    expect(await usage('records', 'journal', 'valkey')).toEqual([0, ''])
    expect((await runLine(['policies', 'list'], { gateway, degraded: ['postgres'] })).io.err()).not.toContain('Note')
  })

  it('is 1 when a check or a test answered that it failed', async () => {
    const gateway = { 'providers.check': () => ({ provider: 'openai', ok: false, message: 'rejected', models: [] }) }
    const ran = await runLine(['providers', 'check', 'openai'], { gateway })
    expect(ran.status).toBe(1)
    expect(ran.io.out()).toContain('rejected')
  })
})

describe('wrong usage ends with 2, before anything is asked of the gateway', () => {
  it.each([
    [['providres'], 'Did you mean providers?'],
    [['prov', 'list'], 'Did you mean providers?'],
    [['budget'], 'See spgw policies --help.'],
    [['Limits'], 'See spgw policies --help.'],
    [['spend'], 'See spgw requests stats --help.'],
    [['config', 'apply'], 'See spgw apply --help.'],
    [['apply', '-f', 'f', '--dry-run'], 'spgw diff -f FILE'],
    [['keys', 'lst'], 'Did you mean list?'],
    [['keys', 'roll', 'ci'], 'Did you mean rotate?'],
    [['providers', 'rotate', 'openai'], 'To replace its credential: spgw providers edit NAME --credential-stdin'],
    [['keys', 'update', 'ci'], 'Did you mean edit?'],
    [['routes', 'get', 'm'], 'Did you mean show?'],
    [['routes', 'delete', 'm'], 'Did you mean remove?'],
    [['policies', 'disable', 'p'], 'See spgw policies --help.'],
    [['keys', 'list', '--al'], 'Did you mean --all?'],
    [['alerts', 'edit', 'ops', '--format', 'slack'], 'See spgw alerts edit --help.'],
    [['keys', 'show', 'a', 'b'], 'See spgw keys show --help.'],
    [['providers', 'add', 'x', '--kind'], '--kind needs a value.'],
    [['requests', 'list', '--limit', 'many'], '--limit many is not a number.'],
    [['requests', 'list', '--lane', 'opnai'], 'Did you mean openai?'],
    [['requests', 'list', '--limit', '0'], '--limit must be at least 1.'],
    [['policies', 'grant', 'p', '--usd', '0', '--until', '1h'], '--usd must be more than 0.'],
    [['routes', 'add', 'm', '--provider', 'p', '--retries', '99'], '--retries must be at most 10.'],
    [['routes', 'add', 'm', '--provider', ''], '--provider must not be empty.'],
    [['keys', 'create', '--name', 'Not A Slug'], '--name must be at most 63 lower-case letters'],
    [['keys', 'rotate', 'ci', '--grace', '5'], 'a duration such as'],
    [['providers', 'add', 'x', '--kind', 'openai', '--header', 'novalue'], 'is not in the form NAME=VALUE'],
    [['keys', 'list', '--output', 'xml'], 'Use one of table, json, yaml, csv.'],
    [['keys', 'list', '--json', '--output', 'csv'], 'cannot be used together'],
    [['keys', 'create'], 'keys create needs --name.'],
    [['keys', 'show'], 'needs the argument KEY.'],
    [['providers', 'credentials', 'add', 'x'], 'needs --credential-stdin, --credential-env or --credential-file.'],
    [['keys', 'revoke', 'ci'], 'Add --yes'],
  ])('%j', async (argv, words) => {
    const ran = await runLine(argv)
    expect(ran.status).toBe(2)
    expect(ran.io.err()).toContain(words)
    expect(ran.io.err().trimEnd().split('\n')).toHaveLength(2)
    expect(ran.io.out()).toBe('')
    expect(ran.connected).toEqual([])
  })
})

describe('secrets', () => {
  const add = ['providers', 'add', 'openai', '--kind', 'openai']

  it('come from standard input, without the line end', async () => {
    const ran = await runLine([...add, '--credential-stdin'], { stdin: `${canary}\n`, gateway: addProvider })
    expect(ran.calls).toEqual([['providers.add', { name: 'openai', kind: 'openai', credential: canary }]])
    expect(ran.io.out() + ran.io.err()).not.toContain(canary)
  })

  it('come from a variable', async () => {
    const ran = await runLine([...add, '--credential-env', 'KEY'], {
      environment: { KEY: canary },
      gateway: addProvider,
    })
    expect(ran.calls[0]?.[1].credential).toBe(canary)
    const empty = await runLine([...add, '--credential-env', 'KEY'], { gateway: addProvider })
    expect([empty.status, empty.io.err()]).toEqual([
      2,
      expect.stringContaining('The variable KEY contains no credential.'),
    ])
  })

  it('come from a file, without the line end', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'secret-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const path = join(directory, 'key')
    writeFileSync(path, `${canary}\n`)
    const ran = await runLine([...add, '--credential-file', path], { gateway: addProvider })
    expect(ran.calls[0]?.[1].credential).toBe(canary)
    expect(ran.io.out() + ran.io.err()).not.toContain(canary)
    const missing = await runLine([...add, '--credential-file', `${path}x`], { gateway: addProvider })
    expect([missing.status, missing.calls]).toEqual([2, []])
    expect(missing.io.err()).toContain(`${path}x cannot be read (ENOENT).`)
    const both = await runLine([...add, '--credential-file', path, '--credential-env', 'KEY'], {})
    expect([both.status, both.io.err()]).toEqual([2, expect.stringContaining('cannot be used together')])
  })

  it('come from a hidden question on a terminal, and are not echoed', async () => {
    for (const argv of [add, [...add, '--credential-stdin']]) {
      const ran = await runLine(argv, { terminal: true, answers: [canary], gateway: addProvider })
      expect(ran.status).toBe(0)
      expect(ran.calls[0]?.[1].credential).toBe(canary)
      expect(ran.io.questions).toEqual([expect.stringMatching(/^hidden: /)])
      expect(ran.io.out() + ran.io.err()).not.toContain(canary)
    }
  })

  it.each([[['--credential', canary]], [[`--credential=${canary}`]]])('are refused as arguments: %j', async (flags) => {
    const ran = await runLine([...add, ...flags])
    expect(ran.status).toBe(2)
    expect(ran.io.err()).toContain('--credential-stdin, --credential-env VARIABLE or --credential-file FILE')
    expect(ran.io.err()).not.toContain(canary)
  })
})

describe('questions', () => {
  it('are asked on a terminal for what is missing', async () => {
    const ran = await runLine(['providers', 'add'], {
      terminal: true,
      answers: ['openai', 'openai', ''],
      gateway: { ...addProvider, 'providers.kinds': () => [{ kind: 'openai' }, { kind: 'demo' }] },
    })
    expect(ran.io.questions).toEqual(['Name', 'Kind [openai|demo]', 'hidden: Credential (optional)'])
    expect(ran.calls.at(-1)).toEqual(['providers.add', { name: 'openai', kind: 'openai' }])
  })

  it('offer what the gateway has, and are not asked where something else was given', async () => {
    const gateway = {
      'providers.list': () => [{ name: 'openai' }, { name: 'azure' }],
      'routes.add': () => ({}),
    }
    const asked = await runLine(['routes', 'add', 'gpt-4o'], { terminal: true, answers: ['azure'], gateway })
    expect(asked.io.questions).toEqual(['Provider [openai|azure]'])
    expect(asked.calls.at(-1)?.[1]).toMatchObject({ model: 'gpt-4o', provider: 'azure' })
    const given = await runLine(['routes', 'add', 'gpt-4o', '--target', 'openai'], { terminal: true, gateway })
    expect(given.io.questions).toEqual([])
    const scripted = await runLine(['routes', 'add', 'gpt-4o'], { gateway })
    expect(scripted.io.questions).toEqual([])
  })

  it('end where no gateway runs that could say more', async () => {
    const gateway = { 'providers.kinds': () => Promise.reject(new GatewayNotRunning('/d', null)) }
    const ran = await runLine(['providers', 'add'], { terminal: true, answers: ['openai'], gateway })
    expect([ran.status, ran.io.questions]).toEqual([3, ['Name']])
  })

  it('end with 130 and nothing more at Ctrl-C', async () => {
    const ran = await runLine(['keys', 'create'], { terminal: true, answers: [] })
    expect([ran.status, ran.io.err(), ran.calls]).toEqual([130, '', []])
  })

  it('let a dangerous command go on when the name is typed, or with --yes', async () => {
    const gateway = { 'keys.revoke': () => ({ id: 'key_1', name: 'ci', state: 'revoked' }) }
    const agreed = await runLine(['keys', 'revoke', 'ci'], { terminal: true, answers: ['ci'], gateway })
    expect([agreed.status, agreed.calls[0]?.[0]]).toEqual([0, 'keys.revoke'])
    expect(agreed.io.err()).toContain('Revoke key ci? Applications that use it')
    const declined = await runLine(['keys', 'revoke', 'ci'], { terminal: true, answers: ['no'], gateway })
    expect([declined.status, declined.calls.length]).toEqual([1, 0])
    const scripted = await runLine(['keys', 'revoke', 'ci', '--yes'], { gateway })
    expect([scripted.status, scripted.calls[0]?.[0]]).toEqual([0, 'keys.revoke'])
  })
})

describe('waiting for a gateway', () => {
  it('is asked for, but for --no-wait', async () => {
    const gateway = { 'keys.list': () => [] }
    const patient = await runLine(['keys', 'list', '--data-dir', '/d'], { gateway })
    expect(patient.connected).toEqual([{ dataDir: '/d', waitMs: 3000, remote: null }])
    expect((await runLine(['status'], { gateway: { status: () => ({}) } })).connected).toEqual([
      { dataDir: null, waitMs: 3000, asksForNow: true, remote: null },
    ])
    expect((await runLine(['keys', 'list', '--no-wait'], { gateway })).connected).toEqual([
      { dataDir: null, waitMs: 0, remote: null },
    ])
  })
})

describe('a key shown once', () => {
  const gateway = { 'keys.create': () => key, status: () => ({ gateway_url: 'http://127.0.0.1:8787' }) }

  it('stands alone on stdout, with how to use it on stderr', async () => {
    const { status, io } = await runLine(['keys', 'create', '--name', 'ci'], { gateway })
    expect([status, io.out()]).toEqual([0, 'sp_live_x\n'])
    expect(io.err()).toBe(
      'Shown only once. Project default, environment production. Try it:\n' +
        '  curl http://127.0.0.1:8787/v1/models -H "Authorization: Bearer $KEY"\n',
    )
  })

  it('says of a new key that no route is where it belongs', async () => {
    const made = { key: 'sp_live_new', project: 'search', environment: 'lab' }
    const told = async (routes: object[]) => {
      const gateway = {
        'keys.create': () => made,
        'routes.list': () => routes,
        status: () => ({ gateway_url: 'http://g' }),
      }
      return (await runLine(['keys', 'create', '--name', 'x'], { gateway })).io.err()
    }
    expect(await told([])).toBe(
      'Shown only once. Project search, environment lab. No route is there yet, so it can use no model. Add one:\n' +
        '  spgw routes add MODEL --provider NAME -p search -e lab\n',
    )
    expect(await told([{ model: 'gpt-4o' }])).toContain('Try it:')
  })

  it('is one document with --json, and printed even if the note cannot be made', async () => {
    const json = await runLine(['keys', 'create', '--name', 'ci', '--json'], { gateway })
    expect([JSON.parse(json.io.out()), json.io.err()]).toEqual([key, ''])
    const bare = await runLine(['keys', 'create', '--name', 'ci'], { gateway: { 'keys.create': () => key } })
    expect([bare.status, bare.io.out()]).toEqual([0, 'sp_live_x\n'])
  })
})
