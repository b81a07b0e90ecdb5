import { afterEach, describe, expect, it } from 'vitest'
import { sampleRecord } from '../support/sample-record.ts'
import { type Driven, drive, provider, streamOf } from './drive.ts'

let driven: Driven
afterEach(() => driven?.stop())

const inputOf = (path: string) => driven.calls.findLast((call) => call.path === path)?.input

describe('a form', () => {
  it('adds what was written, and never shows a secret', async () => {
    driven = drive({ 'providers.add': { ...provider, name: 'mine' } })
    await driven.press('2', 'a', '=mine', 'enter', '=openai', 'enter', 'enter', '=sk-very-secret')
    expect(driven.text()).not.toContain('sk-very')
    await driven.press('ctrl-s')
    await driven.see('Added provider mine. Next, a route to it: a in 3')
    expect(inputOf('providers.add')).toMatchObject({ name: 'mine', kind: 'openai', credential: 'sk-very-secret' })
  })

  it('says under the field what is missing or wrong, and asks nothing of the gateway', async () => {
    driven = drive()
    await driven.press('2', 'a', 'ctrl-s')
    await driven.see('Name is required.')
    await driven.press('=Not A Slug', 'enter', '=openai', 'ctrl-s')
    await driven.see('Name must be at most 63 lower-case letters')
    expect(inputOf('providers.add')).toBeUndefined()
  })

  it('stays as it was written when the gateway refuses', async () => {
    const refused = Object.assign(new Error('The name is taken.'), {
      code: 'conflict',
      status: 409,
      data: { hint: 'Take another.' },
    })
    driven = drive({ 'providers.add': () => Promise.reject(refused) })
    await driven.press('2', 'a', '=mine', 'enter', '=openai', 'ctrl-s')
    expect(await driven.see('The name is taken. Take another.')).toMatch(/Name \* +mine/)
  })

  it('has the settings of the kind that is chosen, and puts a refusal where it can be mended', async () => {
    const hint = 'Give it with --credential-stdin or --credential-env VAR.'
    const refused = Object.assign(new Error('A provider of the kind openai needs a credential.'), {
      code: 'invalid',
      status: 400,
      data: { hint },
    })
    driven = drive({ 'providers.add': () => Promise.reject(refused) })
    await driven.press('2', 'a', '=mine', 'enter', '=openai')
    expect(driven.text()).toContain('Organization')
    expect(driven.text()).not.toContain('Preset')
    await driven.press('ctrl-s')
    const shown = await driven.see('A provider of the kind openai needs a credential.')
    expect(shown).toMatch(/▸ Credential/)
    expect(shown).not.toContain('--credential')
  })

  it.each([
    ['There is no project "serch".', 'List them: spgw projects list', 'Project'],
    ['There is no environment in project serch named "prod".', 'List them: spgw environments list', 'Environment'],
  ])('puts what there is not under the field in which it was written: %s', async (message, hint, label) => {
    const missing = Object.assign(new Error(message), { code: 'not_found', status: 404, data: { hint } })
    driven = drive({ 'keys.list': [], 'keys.create': () => Promise.reject(missing) })
    await driven.press('4', 'a', '=serch', 'enter')
    // Whatever the order of the fields is.
    for (let tries = 0; !/▸ Project/.test(driven.text()) && tries < 20; tries++) await driven.press('enter')
    await driven.press('ctrl-u', '=serch', 'enter', 'ctrl-u', '=prod', 'ctrl-s')
    const shown = await driven.see(message)
    expect(shown).toContain(hint)
    expect(shown).toMatch(new RegExp(`▸ ${label}\\b`))
  })

  it('changes only what was changed', async () => {
    driven = drive({ 'providers.list': [provider], 'providers.edit': provider })
    await driven.press('2')
    await driven.see('openai')
    await driven.press('e')
    const shown = await driven.see('x-team=search')
    expect(shown).toMatch(/First byte timeout +1m\b/)
    await driven.press('down', 'ctrl-u', '=https://eu.api.openai.com/v1', 'ctrl-s')
    await driven.see('Changed provider openai')
    expect(inputOf('providers.edit')).toEqual({ name: provider.id, baseUrl: 'https://eu.api.openai.com/v1' })
  })

  it('warns before Escape loses what was typed, until something else is pressed', async () => {
    driven = drive()
    const warning = 'Press Escape again to discard what you wrote.'
    await driven.press('2', 'a', '=mine', 'escape')
    expect(driven.text()).toMatch(/Name \* +mine/)
    expect(driven.text()).toContain(warning)
    await driven.press('=r', 'left')
    expect(driven.text()).not.toContain(warning)
    await driven.press('escape', 'escape')
    expect(driven.text()).not.toContain('Name *')
    expect(inputOf('providers.add')).toBeUndefined()
  })

  it('is left at once with Escape where nothing was typed', async () => {
    driven = drive()
    await driven.press('2', 'a', '=m', 'backspace', 'escape')
    expect(driven.text()).not.toContain('Name *')
  })

  it('offers the names that the gateway knows', async () => {
    driven = drive({ 'providers.list': [provider], 'routes.add': { id: 'rte_1', model: 'gpt' } })
    await driven.press('3', 'a', '=gpt', 'down', 'down', 'down')
    await driven.see('←→ openai')
    await driven.press('right', 'ctrl-s')
    await driven.see('Added route gpt')
    expect(inputOf('routes.add')).toEqual({ model: 'gpt', provider: 'openai' })
  })

  it.each(['budget', 'provider'])('speaks of an alert for a budget, unless there is one: %s', async (on) => {
    const policy = { id: 'pol_1', name: 'team', attached_to: ['workspace'], budget_usd_month: 200 }
    driven = drive({ 'policies.add': policy, 'alerts.list': [{ name: 'ops', active: true, on: [on] }] })
    await driven.press('=:policies add team', 'enter', 'ctrl-s')
    const shown = await driven.see('Added policy team')
    expect(shown.includes('To hear of it at 50')).toBe(on === 'provider')
  })

  it('says of a list what may be written in it, where the arrows move in the text', async () => {
    driven = drive()
    await driven.press('=:alerts add ops', 'enter', 'down')
    expect(await driven.see('Of: budget, provider')).not.toContain('←→')
    await driven.press('down')
    await driven.see('←→ webhook, slack')
  })

  it('offers for a request that is sent again the keys of where it was sent', async () => {
    driven = drive({
      'requests.list': [sampleRecord({ model: 'kept', project: 'search', environment: 'production' })],
      'requests.tail': () => streamOf([]),
      'keys.list': [
        { name: 'ci', project: 'default', environment: 'production' },
        { name: 'old', project: 'search', environment: 'staging' },
        { name: 'web', project: 'search', environment: 'production' },
      ],
    })
    await driven.press('5')
    await driven.see('kept')
    await driven.press('R')
    expect(await driven.see('←→')).toMatch(/←→ web *$/m)
  })
})

describe('danger', () => {
  it('says what it does and to how much, and asks for the name', async () => {
    driven = drive({
      'providers.list': [provider],
      'providers.remove': { id: provider.id, name: 'openai', removed: true },
    })
    await driven.press('2')
    await driven.see('openai')
    await driven.press('x')
    const shown = await driven.see('Remove provider openai, its credentials and its revisions?')
    expect(shown).toMatch(/Routes +4/)
    expect(shown).toMatch(/Last hour +1,204 tried/)
    await driven.press('=opena', 'enter')
    await driven.see('That does not match openai. Nothing was changed.')
    expect(inputOf('providers.remove')).toBeUndefined()
    await driven.press('=i', 'enter')
    await driven.see('Removed provider openai')
    expect(inputOf('providers.remove')).toEqual({ name: provider.id })
  })

  it('names the nodes of a cluster that it did not reach', async () => {
    const key = { id: 'key_1', name: 'ci', last_four: 'a1b2', state: 'active', project: 'default' }
    const nodes = { reached: ['gw-a'], missing: [{ name: 'gw-c', last_heard_at: '2026-11-30T06:10:56.046Z' }] }
    driven = drive({
      'keys.list': [{ ...key, environment: 'production' }],
      'keys.remove': { id: 'key_1', name: 'ci', removed: true, nodes },
    })
    await driven.press('4')
    await driven.see('a1b2')
    await driven.press('x')
    await driven.see('Remove key ci?')
    await driven.press('=ci', 'enter')
    const shown = await driven.see('Removed key ci. Not reached: gw-c')
    expect(shown.replaceAll(/\s+/g, ' ')).toContain('admits the key until it reaches PostgreSQL')
  })
})

describe('what can be said yes to besides', () => {
  const key = {
    id: 'key_1',
    name: 'ci',
    last_four: 'a1b2',
    state: 'active',
    project: 'default',
    environment: 'production',
  }

  it('is switched where the question is', async () => {
    driven = drive({ 'keys.list': [key], 'keys.revoke': key })
    await driven.press('4')
    await driven.see('a1b2')
    await driven.press('m')
    while (!/▸ revoke/.test(driven.text())) await driven.press('down')
    await driven.press('enter')
    expect(await driven.see('Revoke key ci?')).toContain('[ ] Also stop requests in progress')
    await driven.press('tab', '= ', 'tab')
    while (!driven.text().includes('[x] Also stop requests in progress')) await driven.press('tab', '= ')
    await driven.press('=ci', 'enter')
    await driven.see('Revoked key ci')
    expect(inputOf('keys.revoke')).toMatchObject({ key: 'key_1', closeStreams: true })
  })

  it('is asked about a thing only when the gateway refuses', async () => {
    const refused = Object.assign(new Error('The file owns it.'), {
      code: 'refused',
      status: 403,
      data: { hint: 'Use --force.' },
    })
    driven = drive({
      'providers.list': [provider],
      'providers.deactivate': (input: object) => ('force' in input ? provider : Promise.reject(refused)),
    })
    await driven.press('2')
    await driven.see('openai')
    await driven.press('m')
    while (!/▸ deactivate/.test(driven.text())) await driven.press('down')
    await driven.press('enter')
    await driven.see('Enter to confirm.')
    await driven.press('enter')
    await driven.see('The file owns it.')
    await driven.press('up', '= ', 'ctrl-s')
    await driven.see('Deactivated provider openai')
  })
})

describe('configuration files', () => {
  const plan = {
    owner: 'team',
    changes: [{ action: 'remove', kind: 'route', name: 'gpt-4o', project: 'default', environment: null, fields: [] }],
    notes: [],
    adopted: 0,
    released: 0,
    problems: [],
    unset: [],
    expect: { hash: 'h' },
  }

  it('are read here, show their plan, and are applied as that plan', async () => {
    driven = drive({ diff: plan, apply: { ...plan, keys: [], checked: [] } })
    await driven.press('6')
    while (!/▸ Gateway/.test(driven.text())) await driven.press('down')
    await driven.press('enter')
    while (!/▸ apply/.test(driven.text())) await driven.press('down')
    await driven.press('enter', '=gateway.yaml', 'ctrl-s')
    const shown = await driven.see('remove route gpt-4o')
    expect(shown).toContain('Type team to confirm:')
    expect(inputOf('apply')).toBeUndefined()
    await driven.press('=team', 'enter')
    await driven.see('Applied: 1 removed.')
    expect(inputOf('apply')).toMatchObject({ files: { 'gateway.yaml': 'text' }, expect: { hash: 'h' } })
  })
})

describe('a key', () => {
  it('is shown once, can be copied, and is not left by one press too many', async () => {
    const key = 'sp_live_BFAg5spYwwSHVCsIVUhAkCGWu8IcHGgb8Gg6ZjmrCPH1Je7fJ'
    const created = { id: 'key_1', name: 'ci', key, project: 'default', environment: 'production', expires_at: null }
    driven = drive({ 'keys.create': created, status: { gateway_url: 'http://127.0.0.1:8787' } })
    await driven.press('4', 'a', '=ci', 'ctrl-s')
    const shown = await driven.see(key)
    expect(shown).toContain('Shown only once. Project default, environment production.')
    await driven.see('curl http://127.0.0.1:8787/v1/models')
    await driven.press('c')
    expect(driven.copied).toEqual([key])
    await driven.press('escape')
    expect(driven.text()).not.toContain(key)
  })
})
